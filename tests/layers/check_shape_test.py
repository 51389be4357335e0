#!/usr/bin/env python3
"""The shape check finds functions of every form, counts their lines and holds the limits."""
import pathlib
import unittest

import planted
import check_shape

# A body of 3 lines in every form that the code base uses.
FORMS = [
    "int F(int a) {\n  return a;\n}\n",
    "namespace n {\nint F() {\n  return 1;\n}\n}\n",
    "struct S {\n  int F() const {\n    return 1;\n  }\n};\n",
    "S::S(int a) : a_(a), b_{a} {\n  G();\n}\n",
    "auto F() -> std::vector<int> {\n  return {};\n}\n",
    "TEST(A, B) {\n  const auto f = [&](int x) { return x; };\n}\n",
    "template <typename T>\n  requires std::integral<T>\nT F(T t) noexcept {\n  return t;\n}\n",
    'int F() {\n  const char* s = "}{";  // {\n}\n',
    'int F() {\n  const auto s = R"({{)";\n}\n',
    "int F() {\n  if (1\'000 > \'{\') return 2;\n}\n",
    "constexpr int kA[] = {1, 2};\nclass A;\nenum class E { kOne };\nint F(struct A* a) {\n  return 1;\n}\n",
    "std::ostream& operator<<(std::ostream& os, const E& e) {\n  return os;\n}\n",
]


def function_of(lines):
    return "int F() {\n" + "  G();\n" * (lines - 2) + "}\n"


class CheckShapeTest(unittest.TestCase):
    def test_finds_one_function_of_three_lines_in_every_form(self):
        for form in FORMS:
            with self.subTest(form):
                found = list(check_shape.functions(check_shape.blanked(form)))
                self.assertEqual([length for _, length, _ in found], [3])

    def test_accepts_the_limits(self):
        files = {"src/a.cc": function_of(60), "src/b.cc": "\n" * 500}
        self.assertEqual(planted.run("check_shape.py", files)[0], 0)

    def test_rejects_a_function_over_the_limit(self):
        status, output = planted.run("check_shape.py", {"src/a.cc": "\n" + function_of(61)})
        self.assertEqual(status, 1)
        self.assertIn("src/a.cc:2: function of 61 lines, at most 60: int F()", output)

    def test_rejects_a_name_of_two_sources_of_a_folder(self):
        def source(*lines):
            return "namespace n {\nnamespace {\n\nint F() {\n  return 1;\n}\n\n" + "\n".join(lines) + "\n\n}  // namespace\n}  // namespace n\n"

        table = [("constexpr int kMax = 3;", 1), ("const std::string kName{3};", 1), ("constexpr int kTable[] = {1};", 1),
                 ("struct Row {\n  int a;\n};", 1), ("class Reader final : public Base {\n};", 1),
                 ("struct Row;", 0), ("// constexpr int kMax = 3;", 0)]
        for line, status in table:
            with self.subTest(line):
                here = {"src/m/a.cc": source(line), "src/m/b.cc": source("int g = 1;", line)}
                self.assertEqual(planted.run("check_shape.py", here)[0], status)
                apart = {"src/m/a.cc": source(line), "src/o/b.cc": source(line), "src/m/a_test.cc": source(line)}
                self.assertEqual(planted.run("check_shape.py", apart)[0], 0)

    def test_rejects_a_file_over_the_limit(self):
        status, output = planted.run("check_shape.py", {"apps/a.h": "\n" * 501})
        self.assertEqual(status, 1)
        self.assertIn("apps/a.h: 501 lines, at most 500", output)


if __name__ == "__main__":
    unittest.main()
