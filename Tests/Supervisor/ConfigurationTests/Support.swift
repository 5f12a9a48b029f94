import Testing

@testable import RoostConfiguration

/// A checkout at `/home/ada/roost`, with roostd where the package manager builds it.
let checkout = ConfigurationSurroundings(
  environment: ["HOME": "/home/ada"], currentDirectory: "/home/ada/roost",
  programDirectory: "/home/ada/roost/.build/release")

/// Reads `text` as the `supervisor.conf` of the checkout.
func parse(_ text: String, file: String = "supervisor.conf") throws -> SupervisorConfiguration {
  try Configuration.parse(text, file: file, surroundings: checkout)
}

/// The complaints about `text`, a line each; empty if there are none.
func complaints(about text: String, surroundings: ConfigurationSurroundings = checkout) -> [String] {
  do throws(ConfigurationError) {
    _ = try Configuration.parse(text, file: "supervisor.conf", surroundings: surroundings)
    return []
  } catch {
    guard case .problems(let problems) = error else { return ["\(error)"] }
    return problems.map(\.description)
  }
}

/// The folder this file stands in.
let testFolder = FilePaths.directory(of: #filePath)

/// The text of a file of the source tree.
func sourceText(_ path: String) throws -> String {
  let bytes = try #require(try FileReading.contents(of: path))
  return try #require(String(validating: bytes, as: UTF8.self))
}
