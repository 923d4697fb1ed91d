#!/usr/bin/env bash
# Installs what Tendril needs and this Debian lacks; with the word docs, what the site of its documentation needs. Returns at once when
# nothing is missing.
set -euo pipefail
export LC_ALL=C DEBIAN_FRONTEND=noninteractive

packages=(g++ make python3 python3-dev python3-venv cmake ninja-build ccache clang-format clang-tidy
          libeigen3-dev libsuitesparse-dev libmumps-seq-dev coinor-libipopt-dev libhdf5-dev libyaml-cpp-dev nlohmann-json3-dev
          libtinyxml2-dev libcli11-dev libfmt-dev libspdlog-dev libgtest-dev libbenchmark-dev
          zlib1g-dev libcpp-httplib-dev libopenmpi-dev openmpi-bin chromium)
[ "${1-}" != docs ] || packages=(doxygen python3-sphinx python3-myst-parser furo libjs-katex)
# Node.js builds the viewer. One that is there already may come with its own npm, which Debian's package would fight with.
command -v node >/dev/null || packages+=(nodejs npm)

if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
  echo "Not a Debian system: install the equivalents of these yourself: ${packages[*]}" >&2
  exit 0
fi

installed=$(dpkg-query --show --showformat='${db:Status-Status} ${Package}\n' | sed -n 's/^installed //p')
missing=()
for package in "${packages[@]}"; do
  grep -qxF "$package" <<<"$installed" || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

asRoot=()
if [ "$(id -u)" -ne 0 ]; then
  if ! command -v sudo >/dev/null; then
    echo "Missing packages, and neither root nor sudo is at hand. As root: apt-get install ${missing[*]}" >&2
    exit 1
  fi
  asRoot=(sudo --preserve-env=LC_ALL,DEBIAN_FRONTEND)
fi

echo "Installing: ${missing[*]}"

# apt waits for the dpkg lock by itself, but not for the lock on the package lists or the archives.
apt() {
  local log
  log=$(mktemp)
  for _ in $(seq 120); do
    if "${asRoot[@]}" apt-get -o DPkg::Lock::Timeout=600 -o Acquire::Retries=3 -qq -y "$@" </dev/null >"$log" 2>&1; then
      rm -f "$log"
      return 0
    fi
    grep -q 'lock' "$log" || break
    sleep 5
  done
  cat "$log" >&2
  rm -f "$log"
  return 1
}

apt update || echo "The package lists could not be refreshed; trying with those at hand." >&2
if ! apt install --no-install-recommends "${missing[@]}"; then
  echo "Installation failed. Check the network and /etc/apt/sources.list, then run scripts/install-debian.sh again." >&2
  exit 1
fi
