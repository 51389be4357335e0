#include "recording/file_system.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/sysmacros.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

#include "base/system_error.h"

namespace ringward::recording {
namespace {

struct Magic {
  std::uint64_t number;
  const char* name;
};
// From linux/magic.h, statfs(2) and the file systems' own sources.
constexpr std::array kNetwork = {
    Magic{0x6969, "NFS"},        Magic{0x517B, "SMB"},        Magic{0xFF534D42, "CIFS"},
    Magic{0xFE534D42, "SMB"},    Magic{0x5346414F, "AFS"},    Magic{0x6B414653, "AFS"},
    Magic{0x73757245, "Coda"},   Magic{0x01021997, "9P"},     Magic{0x00C36400, "Ceph"},
    Magic{0x0BD00BD0, "Lustre"}, Magic{0x47504653, "GPFS"},   Magic{0x01161970, "GFS2"},
    Magic{0x7461636F, "OCFS2"},  Magic{0x19830326, "BeeGFS"}, Magic{0x20030528, "OrangeFS"},
    Magic{0xAAD7AAEA, "PanFS"},  Magic{0x564C, "NCP"},
};
constexpr std::uint64_t kFuse = 0x65735546;
/// What follows "fuse." in the type of a mount that leads to another machine.
constexpr std::array<std::string_view, 16> kFuseNetwork = {
    "sshfs",     "glusterfs", "s3fs",   "rclone", "gcsfuse",   "juicefs", "ceph",    "ceph-fuse",
    "curlftpfs", "davfs",     "goofys", "mfs",    "seaweedfs", "beegfs",  "alluxio", "hdfs"};

/// "sshfs" where the mount of device `device` has the type fuse.sshfs; else empty.
std::string FuseType(dev_t device) {
  const std::string number = std::to_string(major(device)) + ":" + std::to_string(minor(device));
  std::ifstream mounts("/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream words(line);
    std::string id;
    std::string parent;
    std::string numbers;
    words >> id >> parent >> numbers;
    const auto dash = line.find(" - fuse.");
    if (numbers != number || dash == std::string::npos) continue;
    const auto begin = dash + std::string_view(" - fuse.").size();
    return line.substr(begin, line.find(' ', begin) - begin);
  }
  return {};
}

Error OnNetwork(const std::string& path, std::string_view type) {
  return {Code::kInvalidInput, path + ": lies on a network file system (" + std::string(type) +
                                   "); recordings need a local disk"};
}

}  // namespace

const char* NetworkFileSystem(std::uint64_t magic) {
  const auto* found = std::find_if(kNetwork.begin(), kNetwork.end(),
                                   [&](const Magic& each) { return each.number == magic; });
  return found == kNetwork.end() ? nullptr : found->name;
}

Status CheckLocal(const std::string& path) {
  std::string folder = std::filesystem::path(path).parent_path().string();
  if (folder.empty()) folder = ".";
  struct statfs system {};
  struct stat info {};
  if (statfs(folder.c_str(), &system) != 0 || stat(folder.c_str(), &info) != 0) {
    return PathError(path, "open", errno);
  }
  // Some machines have it signed, and 32 bits wide.
  const auto magic = static_cast<std::uint64_t>(system.f_type) & 0xFFFFFFFFU;
  if (const char* type = NetworkFileSystem(magic)) return OnNetwork(path, type);
  if (magic != kFuse) return Ok();
  const std::string type = FuseType(info.st_dev);
  if (std::find(kFuseNetwork.begin(), kFuseNetwork.end(), type) == kFuseNetwork.end()) return Ok();
  return OnNetwork(path, type);
}

}  // namespace ringward::recording
