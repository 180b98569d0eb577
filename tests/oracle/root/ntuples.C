// RNTuples written by ROOT itself, of every kind of field, and what RNTupleReader reads from them,
// as lines of JSON. `write_ntuples.py` calls `write` and `read`. Values come from the entry's number.
#include "ntuple_types.h"
#include "ntuple_values.h"
#include <ROOT/RField.hxx>
#include <ROOT/RFieldBase.hxx>
#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleReader.hxx>
#include <ROOT/RNTupleWriteOptions.hxx>
#include <ROOT/RNTupleWriter.hxx>
#include <ROOT/RVec.hxx>
#include <TFile.h>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ntuples {

using ROOT::ENTupleColumnType;
using ROOT::RFieldBase;
using Model = ROOT::RNTupleModel;

// How a file is written.
struct Way {
  int compression = 505;
  long long entries = 400;
  int page = 64;       // bytes, uncompressed, of the largest pages
  int cluster = 100;   // entries
  int group = 2;       // clusters
  int later = 150;     // the entry before which the model is extended
  bool checksums = true;
};

// A field: how it gets into a model, and how its values come back.
struct Case {
  std::string name;
  std::function<std::unique_ptr<RFieldBase>()> field;
  std::function<void(void *, long long)> set;
  std::function<void(std::ostream &, ROOT::RNTupleReader &)> dump;
};

template <typename T> void dump(std::ostream &out, ROOT::RNTupleReader &reader, const std::string &name) {
  out << "{\"name\": \"" << name << "\", \"values\": [";
  auto view = reader.GetView<T>(name);
  for (auto i : reader.GetEntryRange()) {
    if (i > 0) out << ", ";
    put(out, view(i));
  }
  out << "]}\n";
}

using Change = std::function<void(RFieldBase &)>;

template <typename T> Case field(const std::string &name, Change change = nullptr) {
  return {name,
          [=] {
            std::unique_ptr<RFieldBase> made = std::make_unique<ROOT::RField<T>>(name);
            if (change) change(*made);
            return made;
          },
          [](void *at, long long i) { set(*static_cast<T *>(at), i); },
          [=](std::ostream &out, ROOT::RNTupleReader &reader) { dump<T>(out, reader, name); }};
}

template <typename T> Case stored(const std::string &name, ENTupleColumnType type) {
  return field<T>(name, [=](RFieldBase &f) { f.SetColumnRepresentatives({{type}}); });
}

template <typename T> Case truncated(const std::string &name, int bits) {
  return field<T>(name, [=](RFieldBase &f) { static_cast<ROOT::RField<T> &>(f).SetTruncated(bits); });
}

template <typename T> Case quantized(const std::string &name, int bits) {
  auto made = field<T>(name, [=](RFieldBase &f) {
    static_cast<ROOT::RField<T> &>(f).SetQuantized(T(-3), T(10), bits);
  });
  made.set = [](void *at, long long i) { *static_cast<T *>(at) = T(ranged(i, -3, 10)); };
  return made;
}

// Each integer, whole and as items, with the encodings that it may have.
template <typename T> void integer(std::vector<Case> &all, const std::string &name, ENTupleColumnType plain, ENTupleColumnType split) {
  all.push_back(field<T>(name));
  all.push_back(field<std::vector<T>>("v_" + name));
  all.push_back(stored<T>("plain_" + name, plain));
  all.push_back(stored<T>("split_" + name, split));
}

std::vector<Case> cases() {
  using C = ENTupleColumnType;
  std::vector<Case> all;
  integer<std::int8_t>(all, "i8", C::kInt8, C::kInt8);
  integer<std::uint8_t>(all, "u8", C::kUInt8, C::kUInt8);
  integer<std::int16_t>(all, "i16", C::kInt16, C::kSplitInt16);
  integer<std::uint16_t>(all, "u16", C::kUInt16, C::kSplitUInt16);
  integer<std::int32_t>(all, "i32", C::kInt32, C::kSplitInt32);
  integer<std::uint32_t>(all, "u32", C::kUInt32, C::kSplitUInt32);
  integer<std::int64_t>(all, "i64", C::kInt64, C::kSplitInt64);
  integer<std::uint64_t>(all, "u64", C::kUInt64, C::kSplitUInt64);
  all.push_back(field<bool>("bool"));
  all.push_back(field<std::vector<bool>>("v_bool"));
  all.push_back(field<char>("char"));
  all.push_back(field<std::vector<char>>("v_char"));
  all.push_back(field<signed char>("schar"));
  all.push_back(field<unsigned char>("uchar"));
  all.push_back(field<std::array<char, 3>>("chars"));
  all.push_back(field<std::optional<char>>("optional_char"));
  all.push_back(field<std::byte>("byte"));
  all.push_back(field<std::vector<std::byte>>("v_byte"));
  all.push_back(field<float>("f32"));
  all.push_back(field<double>("f64"));
  all.push_back(stored<float>("plain_f32", C::kReal32));
  all.push_back(stored<float>("split_f32", C::kSplitReal32));
  all.push_back(stored<double>("plain_f64", C::kReal64));
  all.push_back(stored<double>("split_f64", C::kSplitReal64));
  all.push_back(stored<double>("narrow_f64", C::kSplitReal32));
  all.push_back(stored<float>("half", C::kReal16));
  all.push_back(stored<double>("half_f64", C::kReal16));
  all.push_back(field<double>("double32", [](RFieldBase &f) { static_cast<ROOT::RField<double> &>(f).SetDouble32(); }));
  for (int bits : {10, 16, 17, 24, 31}) {
    all.push_back(truncated<float>("truncated_" + std::to_string(bits), bits));
    all.push_back(truncated<double>("truncated_f64_" + std::to_string(bits), bits));
  }
  for (int bits : {1, 7, 8, 13, 24, 32}) {
    all.push_back(quantized<float>("quantized_" + std::to_string(bits), bits));
    all.push_back(quantized<double>("quantized_f64_" + std::to_string(bits), bits));
  }
  all.push_back(field<std::string>("text"));
  all.push_back(field<std::vector<std::string>>("texts"));
  all.push_back(field<std::vector<float>>("floats"));
  all.push_back(field<std::vector<std::vector<float>>>("nested"));
  all.push_back(field<std::vector<std::vector<std::vector<int>>>>("deep"));
  all.push_back(field<ROOT::RVec<float>>("rvec"));
  all.push_back(field<ROOT::RVec<ROOT::RVec<int>>>("rvecs"));
  all.push_back(field<std::array<float, 3>>("array"));
  all.push_back(field<std::array<std::array<int, 2>, 3>>("arrays"));
  all.push_back(field<std::array<std::string, 2>>("array_texts"));
  all.push_back(field<std::array<std::vector<int>, 2>>("array_lists"));
  all.push_back(field<std::vector<std::array<short, 2>>>("list_arrays"));
  all.push_back(field<std::bitset<7>>("bits7"));
  all.push_back(field<std::bitset<65>>("bits65"));
  all.push_back(field<std::pair<int, std::string>>("pair"));
  all.push_back(field<std::tuple<char, float, std::vector<int>>>("tuple"));
  all.push_back(field<std::vector<std::pair<int, float>>>("pairs"));
  all.push_back(field<std::variant<int, std::string, std::vector<float>>>("variant"));
  all.push_back(field<std::vector<std::variant<double, Base>>>("variants"));
  all.push_back(field<std::optional<int>>("optional"));
  all.push_back(field<std::optional<std::string>>("optional_text"));
  all.push_back(field<std::vector<std::optional<float>>>("optionals"));
  all.push_back(field<std::optional<std::vector<int>>>("optional_list"));
  all.push_back(field<std::unique_ptr<float>>("pointer"));
  all.push_back(field<std::unique_ptr<Base>>("pointer_class"));
  all.push_back(field<std::set<int>>("set"));
  all.push_back(field<std::set<std::pair<int, int>>>("set_pairs"));
  all.push_back(field<std::multiset<std::string>>("multiset"));
  all.push_back(field<std::unordered_set<float>>("unordered_set"));
  all.push_back(field<std::map<std::string, int>>("map"));
  all.push_back(field<std::map<int, std::vector<float>>>("map_lists"));
  all.push_back(field<std::map<int, Base>>("map_class"));
  all.push_back(field<std::unordered_map<int, double>>("unordered_map"));
  all.push_back(field<std::multimap<int, std::string>>("multimap"));
  all.push_back(field<Colour>("colour"));
  all.push_back(field<Small>("small"));
  all.push_back(field<std::vector<Small>>("smalls"));
  all.push_back(field<std::atomic<int>>("atomic"));
  all.push_back(field<Base>("base"));
  all.push_back(field<Derived>("derived"));
  all.push_back(field<std::vector<Derived>>("derived_list"));
  all.push_back(field<Nested>("whole"));
  return all;
}

// Fields that the model gets when some clusters are written.
std::vector<Case> later() {
  std::vector<Case> all;
  all.push_back(field<int>("later_int"));
  all.push_back(field<std::vector<float>>("later_list"));
  all.push_back(field<std::string>("later_text"));
  all.push_back(field<std::optional<int>>("later_optional"));
  all.push_back(field<std::array<double, 2>>("later_array"));
  all.push_back(field<Base>("later_base"));
  all.push_back(field<bool>("later_bool"));
  return all;
}

// Fields whose second representation takes over in every second cluster.
std::vector<Case> changing() {
  using C = ENTupleColumnType;
  auto two = [](const std::vector<RFieldBase::ColumnRepresentation_t> &types) {
    return [=](RFieldBase &f) { f.SetColumnRepresentatives(types); };
  };
  std::vector<Case> all;
  all.push_back(field<float>("changing_float", two({{C::kReal32}, {C::kReal16}})));
  all.push_back(field<double>("changing_double", two({{C::kSplitReal64}, {C::kReal32}})));
  all.push_back(field<std::int64_t>("changing_int", two({{C::kSplitInt64}, {C::kInt64}})));
  all.push_back(field<std::string>("changing_text", two({{C::kSplitIndex32, C::kChar}, {C::kIndex64, C::kChar}})));
  return all;
}

// Projected fields: a name, a type, and what it shows.
struct Projection {
  std::string name, type;
  std::function<std::string(const std::string &)> source;
  std::function<void(std::ostream &, ROOT::RNTupleReader &)> dump;
};

template <typename T> Projection projection(const std::string &name, std::function<std::string(const std::string &)> source) {
  return {name, ROOT::RField<T>::TypeName(), source,
          [=](std::ostream &out, ROOT::RNTupleReader &reader) { dump<T>(out, reader, name); }};
}

std::vector<Projection> projections() {
  auto always = [](const std::string &to) { return [=](const std::string &) { return to; }; };
  return {
    projection<float>("alias", always("f32")),
    projection<ROOT::RNTupleCardinality<std::uint32_t>>("n_floats", always("floats")),
    projection<ROOT::RNTupleCardinality<std::uint64_t>>("n_derived", always("derived_list")),
    projection<std::vector<std::string>>("names", [](const std::string &name) {
      return name == "names" ? "derived_list" : "derived_list._0.name";
    }),
  };
}

void write(const char *path, const Way &way) {
  auto model = Model::CreateBare();
  const auto first = cases(), late = later(), changed = changing();
  for (const auto *some : {&first, &changed})
    for (const auto &one : *some) model->AddField(one.field());
  model->AddField(std::make_unique<ROOT::RStreamerField>("streamed", "ntuples::Streamed"));
  for (const auto &one : projections())
    model->AddProjectedField(RFieldBase::Create(one.name, one.type).Unwrap(), one.source);
  ROOT::RNTupleWriteOptions options;
  options.SetCompression(way.compression);
  options.SetInitialUnzippedPageSize(16);
  options.SetMaxUnzippedPageSize(way.page);
  options.SetEnablePageChecksums(way.checksums);
  options.SetEnableSamePageMerging(way.checksums);
  std::unique_ptr<TFile> file(TFile::Open(path, "RECREATE"));
  auto writer = ROOT::RNTupleWriter::Append(std::move(model), "types", *file, options);
  bool is_extended = false;
  auto entry = writer->CreateEntry();
  int clusters = 0;
  for (long long i = 0; i < way.entries; ++i) {
    if (i == way.later) {
      auto updater = writer->CreateModelUpdater();
      updater->BeginUpdate();
      for (const auto &one : late) updater->AddField(one.field());
      updater->CommitUpdate();
      is_extended = true;
      entry = writer->CreateEntry();
    }
    for (const auto *some : {&first, &changed})
      for (const auto &one : *some) one.set(entry->GetPtr<void>(one.name).get(), i);
    if (is_extended)
      for (const auto &one : late) one.set(entry->GetPtr<void>(one.name).get(), i);
    auto &streamed = *static_cast<Streamed *>(entry->GetPtr<void>("streamed").get());
    streamed.number = int(i);
    streamed.values.assign(i % 3, double(i));
    writer->Fill(*entry);
    if ((i + 1) % way.cluster == 0) {
      writer->CommitCluster(++clusters % way.group == 0);
      for (const auto &one : changed) {
        auto &field = const_cast<RFieldBase &>(writer->GetModel().GetConstField(one.name));
        ROOT::Internal::RFieldRepresentationModifier::SetPrimaryColumnRepresentation(field, clusters % 2);
      }
    }
  }
}

void read(const char *path, const char *output) {
  auto reader = ROOT::RNTupleReader::Open("types", path);
  std::ofstream out(output);
  out << "{\"entries\": " << reader->GetNEntries() << "}\n";
  for (const auto &some : {cases(), later(), changing()})
    for (const auto &one : some) one.dump(out, *reader);
  for (const auto &one : projections()) one.dump(out, *reader);
}

}  // namespace ntuples
