// The types of the fields of `ntuples.C`, for its dictionaries: classes with bases, an enum, and one
// that ROOT's streamer writes. No values here.
#ifndef TREEMILL_NTUPLE_TYPES
#define TREEMILL_NTUPLE_TYPES
#include <Rtypes.h>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

namespace ntuples {

enum Colour { kRed, kGreen = 7, kBlue = -3 };
enum class Small : unsigned char { kOne = 1, kMany = 250 };

struct Base {
  int base = 0;
  std::vector<float> more;
};
struct Other {
  double other = 0;
};
struct Derived : Base, Other {
  std::string name;
  short array[2][3] = {};
  Small small = Small::kOne;
  int unwritten = 0;  //!
};
struct Nested {
  Derived inner;
  std::vector<Derived> many;
  std::map<int, Base> named;
};
struct Streamed {
  int number = 0;
  std::vector<double> values;
};

}  // namespace ntuples

#ifdef __CLING__
#pragma link C++ enum ntuples::Colour;
#pragma link C++ enum ntuples::Small;
#pragma link C++ struct ntuples::Base+;
#pragma link C++ struct ntuples::Other+;
#pragma link C++ struct ntuples::Derived+;
#pragma link C++ struct ntuples::Nested+;
#pragma link C++ options=rntupleStreamerMode(true) struct ntuples::Streamed+;
#pragma link C++ class std::set<int>+;
#pragma link C++ class std::set<std::pair<int, int>>+;
#pragma link C++ class std::multiset<std::string>+;
#pragma link C++ class std::unordered_set<float>+;
#pragma link C++ class std::map<std::string, int>+;
#pragma link C++ class std::map<int, std::vector<float>>+;
#pragma link C++ class std::map<int, ntuples::Base>+;
#pragma link C++ class std::unordered_map<int, double>+;
#pragma link C++ class std::multimap<int, std::string>+;
#endif
#endif
