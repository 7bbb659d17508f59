// Walks a document and a schema side by side and collects the mismatches.
// Schemas are trusted project files; documents are not.
#include "tests/support/schema_validator.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <stdexcept>

#include "tests/support/paths.h"

namespace ridgeline::testing {
namespace {

const std::set<std::string> annotations{"$schema", "$id", "title", "description", "$defs"};
const std::set<std::string> assertions{
    "$ref",    "type",      "properties", "required", "additionalProperties",
    "items",   "minItems",  "enum",       "const",    "minimum",
    "maximum", "minLength", "anyOf"};

const Json& schema_document(const std::string& name) {
  static std::map<std::string, Json> loaded;
  const auto found = loaded.find(name);
  if (found != loaded.end()) return found->second;
  const std::string path = source_file("docs/schemas/") + name;
  return loaded.emplace(name, read_json_file(path)).first->second;
}

// A schema and the file that its references are relative to.
struct Place {
  const Json* schema;
  std::string file;
};

Place resolve(const std::string& reference, const std::string& from_file) {
  const std::size_t hash = reference.find('#');
  const std::string file = hash == 0 ? from_file : reference.substr(0, hash);
  const Json& document = schema_document(file);
  if (hash == std::string::npos) return {&document, file};
  const Json::json_pointer pointer(reference.substr(hash + 1));
  if (!document.contains(pointer))
    throw std::runtime_error(from_file + ": broken reference " + reference);
  return {&document.at(pointer), file};
}

bool has_type(const Json& value, const std::string& type) {
  if (type == "null") return value.is_null();
  if (type == "boolean") return value.is_boolean();
  if (type == "string") return value.is_string();
  if (type == "array") return value.is_array();
  if (type == "object") return value.is_object();
  if (type == "number") return value.is_number();
  if (type == "integer")
    return value.is_number_integer() ||
           (value.is_number_float() && std::floor(value.get<double>()) == value.get<double>());
  throw std::runtime_error("unknown type " + type);
}

class Validation {
 public:
  std::vector<std::string> violations;

  void check(const Json& value, const Place& place, const std::string& path) {
    const Json& schema = *place.schema;
    for (const auto& [keyword, argument] : schema.items())
      if (annotations.count(keyword) == 0 && assertions.count(keyword) == 0)
        throw std::runtime_error(place.file + ": unknown keyword " + keyword);
    if (schema.contains("$ref"))
      check(value, resolve(schema["$ref"].get<std::string>(), place.file), path);
    check_scalar(value, schema, path);
    if (schema.contains("anyOf")) check_any_of(value, place, path);
    if (value.is_object()) check_object(value, place, path);
    if (value.is_array()) check_array(value, place, path);
  }

 private:
  void report(const std::string& path, const std::string& what) {
    violations.push_back((path.empty() ? "document" : path) + ": " + what);
  }

  void check_scalar(const Json& value, const Json& schema, const std::string& path) {
    if (schema.contains("type") && !has_type(value, schema["type"].get<std::string>()))
      report(path, "is " + value.dump() + ", not of type " + schema["type"].dump());
    if (schema.contains("const") && value != schema["const"])
      report(path, "is " + value.dump() + ", not " + schema["const"].dump());
    if (schema.contains("enum")) {
      const Json& words = schema["enum"];
      if (std::find(words.begin(), words.end(), value) == words.end())
        report(path, value.dump() + " is not one of " + words.dump());
    }
    if (value.is_number()) {
      const double number = value.get<double>();
      if (schema.contains("minimum") && number < schema["minimum"].get<double>())
        report(path, value.dump() + " is below the minimum");
      if (schema.contains("maximum") && number > schema["maximum"].get<double>())
        report(path, value.dump() + " is above the maximum");
    }
    if (value.is_string() && schema.contains("minLength") &&
        value.get<std::string>().size() < schema["minLength"].get<std::size_t>())
      report(path, "is too short");
  }

  void check_any_of(const Json& value, const Place& place, const std::string& path) {
    std::string reasons;
    for (const Json& choice : (*place.schema)["anyOf"]) {
      Validation attempt;
      attempt.check(value, {&choice, place.file}, path);
      if (attempt.violations.empty()) return;
      reasons += (reasons.empty() ? "" : " | ") + attempt.violations.front();
    }
    report(path, "fits no choice: " + reasons);
  }

  void check_object(const Json& value, const Place& place, const std::string& path) {
    const Json& schema = *place.schema;
    if (schema.contains("required"))
      for (const Json& key : schema["required"])
        if (!value.contains(key.get<std::string>())) report(path, "misses " + key.dump());
    if (!schema.contains("properties") && !schema.contains("additionalProperties")) return;
    for (const auto& [key, member] : value.items()) {
      const std::string member_path = path + (path.empty() ? "" : ".") + key;
      if (schema.contains("properties") && schema["properties"].contains(key))
        check(member, {&schema["properties"][key], place.file}, member_path);
      else if (schema.contains("additionalProperties") &&
               schema["additionalProperties"].is_object())
        check(member, {&schema["additionalProperties"], place.file}, member_path);
      else if (!schema.contains("additionalProperties") || schema["additionalProperties"] == false)
        report(member_path, "is not in the schema");
    }
  }

  void check_array(const Json& value, const Place& place, const std::string& path) {
    const Json& schema = *place.schema;
    if (schema.contains("minItems") && value.size() < schema["minItems"].get<std::size_t>())
      report(path, "has too few items");
    if (!schema.contains("items")) return;
    for (std::size_t i = 0; i < value.size(); ++i)
      check(value[i], {&schema["items"], place.file}, path + "[" + std::to_string(i) + "]");
  }
};

void check_keywords(const Place& place, const std::string& where) {
  const Json& schema = *place.schema;
  const auto nested = [&](const Json& part, const std::string& name) {
    check_keywords({&part, place.file}, where + "/" + name);
  };
  for (const auto& [keyword, argument] : schema.items()) {
    if (annotations.count(keyword) == 0 && assertions.count(keyword) == 0)
      throw std::runtime_error(place.file + where + ": unknown keyword " + keyword);
    if (keyword == "$ref") resolve(argument.get<std::string>(), place.file);
    if (keyword == "properties" || keyword == "$defs")
      for (const auto& [name, part] : argument.items()) nested(part, name);
    if (keyword == "items") nested(argument, keyword);
    if (keyword == "additionalProperties" && argument.is_object()) nested(argument, keyword);
    if (keyword == "anyOf")
      for (const Json& choice : argument) nested(choice, keyword);
  }
}

}  // namespace

std::vector<std::string> schema_violations(const Json& document, const std::string& schema_file) {
  Validation validation;
  validation.check(document, resolve(schema_file, ""), "");
  return validation.violations;
}

void check_schema_file(const std::string& schema_file) {
  check_keywords({&schema_document(schema_file), schema_file}, "");
}

std::vector<std::string> schema_enum(const std::string& schema_file) {
  return resolve(schema_file, "").schema->at("enum").get<std::vector<std::string>>();
}

}  // namespace ridgeline::testing
