#include <algorithm>
#include <utility>

#include "base/check.h"
#include "ringward/cli/subcommand.h"

namespace ringward::cli {
namespace {

std::string FirstWord(const std::string& path) { return path.substr(0, path.find(' ')); }

std::string SectionOf(const SubcommandInfo& info) {
  std::string section = info.path;
  std::replace(section.begin(), section.end(), ' ', '.');
  return section;
}

}  // namespace

void Registry::Insert(Entry entry) {
  RINGWARD_CHECK(Find(entry.info.path) == nullptr);
  entries_.push_back(std::move(entry));
}

const Registry::Entry* Registry::Find(const std::string& path) const {
  const auto found = std::find_if(entries_.begin(), entries_.end(),
                                  [&](const Entry& entry) { return entry.info.path == path; });
  return found == entries_.end() ? nullptr : &*found;
}

bool Registry::IsFamily(const std::string& word) const { return !SecondWords(word).empty(); }

std::vector<std::string> Registry::FirstWords() const {
  std::vector<std::string> words;
  for (const Entry& entry : entries_) {
    std::string word = FirstWord(entry.info.path);
    if (std::find(words.begin(), words.end(), word) == words.end())
      words.push_back(std::move(word));
  }
  return words;
}

std::vector<std::string> Registry::SecondWords(const std::string& family) const {
  std::vector<std::string> words;
  for (const Entry& entry : entries_) {
    const std::string& path = entry.info.path;
    if (path.starts_with(family + " ")) words.push_back(path.substr(family.size() + 1));
  }
  return words;
}

std::unique_ptr<BoundSubcommand> Bind(const Registry& registry, const Registry::Entry& entry) {
  auto bound = std::make_unique<BoundSubcommand>();
  bound->subcommand = entry.make();
  bound->options.Group("Options");
  bound->subcommand->AddOptions(bound->options);
  AddCommonOptions(bound->options, bound->common);
  std::vector<std::string> others;
  for (const Registry::Entry& other : registry.entries()) others.push_back(SectionOf(other.info));
  bound->options.SetSections(SectionOf(entry.info), std::move(others));
  return bound;
}

}  // namespace ringward::cli
