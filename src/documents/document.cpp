#include "tendril/documents/document.h"

#include "documents/document_tree.h"
#include "documents/yaml_tree.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>

namespace tendril {

namespace {

std::string readFile(const std::filesystem::path& file) {
  std::error_code status;
  if (std::filesystem::is_directory(file, status)) throw InputError({file.string()}, "", "this is a folder", "name the scene file in it");
  std::ifstream stream(file, std::ios::binary);
  if (!stream)
    throw InputError({file.string()}, "", std::string("the file cannot be read: ") + std::strerror(errno),
                     "check the path and the permissions");
  std::ostringstream content;
  content << stream.rdbuf();
  return content.str();
}

void finishAll(const Value& value) {
  if (value.kind == Value::Kind::Map) finishMap(value);
  for (const Value::Entry& entry : value.entries) finishAll(*entry.value);
  for (const auto& item : value.items) finishAll(*item);
}

UnitSystem readUnits(const Node& node) {
  try {
    return {node.text("length", "m"), node.text("mass", "kg"), node.text("time", "s")};
  } catch (const InputError&) {
    throw;
  } catch (const Error& error) {
    node.refuse(error.what(), "write e.g. units: {length: mm, mass: t, time: s}");
  }
}

}

Document::Document(std::unique_ptr<detail::Tree> content) : tree(std::move(content)) {}
Document::Document(Document&&) noexcept = default;
Document& Document::operator=(Document&&) noexcept = default;
Document::~Document() = default;

DocumentSource DocumentSource::fromFile(const std::filesystem::path& file) { return fromText(readFile(file), file.string()); }

DocumentSource DocumentSource::fromText(std::string_view text, std::string_view name) {
  DocumentSource source;
  source.text_ = text;
  source.file_ = name;
  source.root_ = parseYaml(source.text_, source.file_, "");
  if (source.root_->kind != Value::Kind::Map)
    throw InputError(source.root_->where, "", "expected a map of keys at the top level, found " + kindName(*source.root_),
                     "begin with 'tendril: 1'");
  return source;
}

Document Document::fromFile(const std::filesystem::path& file, std::span<const std::string> overrides) {
  return fromSource(DocumentSource::fromFile(file), overrides);
}

Document Document::fromText(std::string_view text, std::string_view name, std::span<const std::string> overrides) {
  return fromSource(DocumentSource::fromText(text, name), overrides);
}

Document Document::fromSource(const DocumentSource& source, std::span<const std::string> overrides) {
  auto tree = std::make_unique<detail::Tree>();
  tree->text = source.text_;
  tree->file = source.file_;
  tree->overrides.assign(overrides.begin(), overrides.end());
  tree->root = source.root_->clone();
  applyOverrides(*tree, overrides);
  if (const auto units = Node(tree.get(), tree->root.get()).optionalMap("units")) tree->parameters.units = readUnits(*units);
  tree->parameters.resolveAll();
  expandRepetitions(*tree->root, tree->parameters);
  return Document(std::move(tree));
}

Node Document::root() const { return Node(tree.get(), tree->root.get()); }
void Document::finish() const { finishAll(*tree->root); }
const Scope& Document::parameters() const { return tree->parameters; }
std::vector<std::string> Document::parameterNames() const { return tree->parameters.names(); }
std::vector<std::string> Document::unusedParameters() const { return tree->parameters.unused(); }
const std::string& Document::text() const { return tree->text; }
const std::string& Document::fileName() const { return tree->file; }
const std::vector<std::string>& Document::overrides() const { return tree->overrides; }

}
