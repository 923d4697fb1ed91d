#include "tendril/model/error.h"

namespace tendril {

namespace {

std::string compose(const Location& where, const std::string& key, const std::string& message, const std::string& remedy) {
  std::string text = where.file;
  if (where.line > 0) text += ":" + std::to_string(where.line);
  if (where.line > 0 && where.column > 0) text += ":" + std::to_string(where.column);
  if (!text.empty()) text += ": ";
  if (!key.empty()) text += key + ": ";
  text += message;
  if (!remedy.empty()) text += "; " + remedy;
  return text;
}

}

InputError::InputError(const Location& where, const std::string& key, const std::string& message, const std::string& remedy)
    : Error(compose(where, key, message, remedy)), isLocated_(!where.file.empty()) {}

}
