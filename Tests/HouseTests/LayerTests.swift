// SwiftPM lets a target import whatever happens to be built, declared or not. These tests do not: Package.swift is the
// table of rooms, and every import must be declared, go to a line above, and stay in the rooms that are allowed.
import Testing

@Suite("The layers")
struct LayerTests {
  /// Modules that come with the toolchain and may be used anywhere. Foundation is not among them: it doubles the memory
  /// of a small process, and a worker is a small process.
  static let toolchainModules: Set<String> = ["Glibc", "Synchronization", "FoundationEssentials"]
  /// What tests may use besides. Dispatch would be a second event loop in a product; a test may want a thread.
  static let testModules: Set<String> = ["Testing", "Dispatch"]

  static let manifest = PackageManifest.own
  static let compiled = manifest.targets.filter { $0.kind != .system }
  /// What the files of each target import.
  static let imported = Dictionary(
    uniqueKeysWithValues: compiled.map { ($0.name, Set(SourceTree.swiftFiles(below: $0.path).flatMap(imports))) })

  @Test("are read from a Package.swift that names every folder of sources")
  func areReadFromManifest() {
    let paths = Set(Self.manifest.targets.map(\.path))
    for room in SourceTree.rooms {
      for folder in SourceTree.folders(in: room) { #expect(paths.contains("\(room)/\(folder)")) }
    }
    for target in Self.manifest.targets { #expect(SourceTree.exists(target.path), "\(target.name)") }
  }

  @Test("let a room import C, Base, Network, Bus and itself", arguments: manifest.targets)
  func letRoomImportSharedRooms(target: PackageTarget) {
    guard let room = target.room else { return }
    for dependency in target.dependencies {
      guard let other = Self.manifest.target(named: dependency)?.room, !room.mayImport(other) else { continue }
      Issue.record("\(target.name) of \(room.path) depends on \(dependency) of \(other.path)")
    }
  }

  @Test("let a shared room import what is below it only, and a worker no other worker")
  func letSharedRoomImportDownwards() {
    let (c, base, network) = (Room(path: "Sources/C"), Room(path: "Sources/Base"), Room(path: "Sources/Network"))
    let (bus, signer) = (Room(path: "Sources/Bus"), Room(path: "Workers/Signer"))
    #expect(signer.mayImport(base) && signer.mayImport(network) && signer.mayImport(bus) && signer.mayImport(signer))
    #expect(!signer.mayImport(Room(path: "Workers/EventStore")) && !signer.mayImport(Room(path: "Sources/Supervisor")))
    #expect(base.mayImport(c) && base.mayImport(base) && !base.mayImport(network) && !base.mayImport(bus))
    #expect(network.mayImport(base) && !network.mayImport(bus) && bus.mayImport(base) && !bus.mayImport(network))
    #expect(!c.mayImport(base) && !bus.mayImport(signer))
  }

  @Test("let a target depend on targets above it only", arguments: manifest.targets)
  func letTargetDependUpwards(target: PackageTarget) throws {
    let position = try #require(Self.manifest.targets.firstIndex { $0.name == target.name })
    let above = Set(Self.manifest.targets[..<position].map(\.name))
    for dependency in target.dependencies where Self.manifest.target(named: dependency) != nil {
      #expect(above.contains(dependency), "\(target.name) stands above \(dependency) in Package.swift")
    }
  }

  @Test("let a file import what its target declares, and nothing else", arguments: compiled)
  func letFileImportWhatIsDeclared(target: PackageTarget) {
    let own = target.path.hasPrefix("Tests/") ? Self.testModules : []
    let allowed = Self.toolchainModules.union(own).union(target.dependencies.map(moduleName))
    for file in SourceTree.swiftFiles(below: target.path) {
      for module in imports(file) {
        #expect(allowed.contains(module), "\(file) imports \(module), which Package.swift does not declare for it")
      }
    }
  }

  @Test("let a target declare what its files import, and nothing else", arguments: compiled)
  func letTargetDeclareWhatIsImported(target: PackageTarget) {
    let imported = Self.imported[target.name] ?? []
    for dependency in target.dependencies {
      // A program is declared so that it is built before those who start it.
      if Self.manifest.target(named: dependency)?.kind == .program { continue }
      #expect(
        imported.contains(moduleName(dependency)), "\(target.name) declares \(dependency), and no file imports it")
    }
  }

  @Test("give each C module one importer", arguments: manifest.targets.filter { $0.kind == .system })
  func giveCModuleOneImporter(module: PackageTarget) {
    let importers = Self.compiled.filter { Self.imported[$0.name]?.contains(module.name) == true }
    #expect(importers.count <= 1, "\(module.name) is imported by \(importers.map(\.name).joined(separator: ", "))")
  }

  @Test("keep programs apart: nothing imports one")
  func keepProgramsApart() {
    let programs = Set(Self.manifest.targets.filter { $0.kind == .program }.map(\.moduleName))
    for target in Self.compiled {
      for file in SourceTree.swiftFiles(below: target.path) {
        let imported = programs.intersection(imports(file))
        #expect(imported.isEmpty, "\(file) imports the program \(imported.joined(separator: ", "))")
      }
    }
  }

  @Test("are held by a reader of imports that knows every form of one")
  func readEveryFormOfImport() {
    let text = """
      import One
      public import Two
        @testable import Three
      @preconcurrency public import struct Four.Name
      // import Five
      let text = "import Six"
      internal import Seven  // why
      important()
      let text = \(multilineQuote)
      import Eight
      \(multilineQuote)
      """
    #expect(importedModules(of: text) == ["One", "Two", "Three", "Four", "Seven"])
  }

  @Test("are held by a reader of Package.swift that knows its shape")
  func readShapeOfManifest() throws {
    let manifest = PackageManifest(
      reading: """
        let products = [
          "collections": ["Deque"]
        ]
        let some = ["CThing"]
        let more = some + ["Deque"]
        func room(_ folder: String, _ targets: Target...) -> [Target] { targets }
        func library(_ name: String) -> Target { .target(name: name) }
        let rooms: [[Target]] = [
          room(
            "Sources/Low",  // library("Comment")
            .systemLibrary(name: "CThing", pkgConfig: "thing", providers: [.apt(["libthing-dev"])]),
            library("Upper", more)
          ),
          room(
            "Workers/TheProgram",
            program(
              "the-program",
              some + ["Upper"])
          ),
          room("Benchmarks", program("a-bench", ["Upper"], in: "ABench")),
          room("Tests", tests("Low/UpperTests", ["Upper"], exclude: ["Golden"])),
        ]
        let package = Package(dependencies: [.package(url: "https://host/x", from: "1.0.0")])
        """)
    #expect(manifest.targets.map(\.name) == ["CThing", "Upper", "the-program", "a-bench", "UpperTests"])
    #expect(manifest.targets.map(\.kind) == [.system, .library, .program, .program, .test])
    #expect(
      manifest.targets.map(\.path) == [
        "Sources/Low/CThing", "Sources/Low/Upper", "Workers/TheProgram/the-program", "Benchmarks/ABench",
        "Tests/Low/UpperTests",
      ])
    #expect(
      manifest.targets.map(\.dependencies) == [[], ["CThing", "Deque"], ["CThing", "Upper"], ["Upper"], ["Upper"]])
    #expect(manifest.target(ofModule: "the_program")?.name == "the-program")
  }
}

/// A folder of the product with a subject. What is in `Tests`, `Benchmarks` and `examples` has no room.
struct Room: Hashable {
  /// From the root of the checkout: `Sources/Base`, `Workers/Signer`.
  var path: String

  /// What a shared room imports besides itself. All others import every shared room.
  private static let below = [
    "Sources/C": [], "Sources/Base": ["Sources/C"], "Sources/Network": ["Sources/C", "Sources/Base"],
    "Sources/Bus": ["Sources/C", "Sources/Base"],
  ]

  /// Whether a target of this room may import one of another.
  func mayImport(_ other: Room) -> Bool {
    self == other || (Self.below[path] ?? Array(Self.below.keys)).contains(other.path)
  }
}

extension PackageTarget {
  /// The room it is in.
  fileprivate var room: Room? {
    let parts = path.split(separator: "/")
    guard parts.count > 2, ["Sources", "Workers"].contains(parts[0]) else { return nil }
    return Room(path: "\(parts[0])/\(parts[1])")
  }
}

private let multilineQuote = String(repeating: "\"", count: 3)

private func moduleName(_ dependency: String) -> String {
  PackageManifest.own.target(named: dependency)?.moduleName ?? dependency
}

/// The modules that a file of the checkout imports, in order.
private func imports(_ file: SourceFile) -> [String] { importsByPath[file.path] ?? [] }

/// Every file is asked for its imports in several tests, and reading them is what takes the time.
private let importsByPath = Dictionary(
  uniqueKeysWithValues: SourceTree.files.filter { $0.kind == "swift" }.map { ($0.path, importedModules(of: $0.text)) })

/// The modules a Swift text imports, in order. What stands in a multi-line string is not an import.
func importedModules(of text: String) -> [String] {
  let pieces = text.split(separator: multilineQuote, omittingEmptySubsequences: false)
  let code = pieces.indices.filter { $0.isMultiple(of: 2) }.map { pieces[$0] }
  return code.joined(separator: "\n").split(separator: "\n").compactMap { line in
    var words = line.split(separator: " ")[...]
    let modifiers: Set<Substring> = ["public", "package", "internal", "fileprivate", "private"]
    while let word = words.first, word.hasPrefix("@") || modifiers.contains(word) { words.removeFirst() }
    guard words.popFirst() == "import", var module = words.popFirst() else { return nil }
    let kinds: Set<Substring> = ["struct", "class", "enum", "protocol", "typealias", "func", "let", "var"]
    if kinds.contains(module), let name = words.popFirst() { module = name }
    return module.split(separator: ".").first.map(String.init)
  }
}
