import RoostConfiguration
import Contracts
import Glibc
import LogKeeping

// A worker that finds its ledger damaged puts it aside and goes on with what can be read of it, and one whose ledger
// lacks commits goes on without them (`LedgerFile`); what it said of that is in the log of one start. The files stay,
// and the worker's words beside them, and tell it for as long as somebody needs them.

/// What stands in a worker's directory because a ledger was damaged.
private struct DamagedFiles {
  enum Finding {
    /// It is to be put aside at the next start.
    case marked
    /// It was put aside at a second since 1970, and has no bytes.
    case empty(Int64)
    /// It was put aside.
    case aside(Int64, words: String?)
    /// The ledger lacks commits.
    case missing(Int64, words: String?)
  }

  /// By the names of their files.
  private(set) var files: [(name: String, finding: Finding)] = []

  private static let mark = ".is-damaged"
  /// Most entries that are looked at: a ledger's directory holds a few.
  private static let entryMaximum = 10_000
  /// Most bytes of a worker's words.
  private static let wordByteCountMaximum = 1_024

  init(in directory: String) {
    guard let folder = opendir(directory) else { return }
    defer { closedir(folder) }
    var count = 0
    while count < Self.entryMaximum, let entry = readdir(folder) {
      count += 1
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      let path = "\(directory)/\(name)"
      if name.hasSuffix(Self.mark) {
        files.append((String(name.dropLast(Self.mark.count)), .marked))
      } else if let time = Self.time(in: name, after: ".missing-") {
        files.append((name, .missing(time, words: Self.words(path))))
      } else if let time = Self.time(in: name, after: ".damaged-") {
        var status = stat()
        let isEmpty = stat(path, &status) == 0 && status.st_size == 0
        files.append((name, isEmpty ? .empty(time) : .aside(time, words: Self.words(path + ".text"))))
      }
    }
    files.sort { $0.name < $1.name }
  }

  private static func time(in name: String, after word: String) -> Int64? {
    name.ranges(of: word).last.flatMap { Int64(name[$0.upperBound...]) }
  }

  /// What the worker has said of it, in one line.
  private static func words(_ path: String) -> String? {
    let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: wordByteCountMaximum)
    let count = read(file, &bytes, bytes.count)
    guard count > 0 else { return nil }
    return String(String(decoding: bytes[..<count], as: UTF8.self).map { $0.isNewline || $0.isASCIIControl ? " " : $0 })
  }
}

extension Character {
  fileprivate var isASCIIControl: Bool { asciiValue.map { $0 < 32 || $0 == 127 } ?? false }
}

extension ControlService {
  /// Most damaged files that are named.
  private static let damagedFileMaximum = 8

  /// Ledgers that were found damaged: publications, jobs, requests for jobs. Of the events their store tells itself,
  /// which knows more.
  func ledgerChecks() -> [DoctorResult.Check] {
    var texts: [String] = []
    for worker in daemon.workers where worker.role != .eventStore {
      let directory = "\(daemon.configuration.supervisor.stateDirectory)/\(worker.name)"
      for file in DamagedFiles(in: directory).files {
        texts.append(Self.text(of: file.finding, file.name, worker.name, path: "\(directory)/\(file.name)"))
      }
    }
    guard !texts.isEmpty else {
      return [DoctorResult.Check(name: "ledgers", isGood: true, text: "none is known to have been damaged")]
    }
    return texts.prefix(Self.damagedFileMaximum).map { .init(name: "ledgers", isGood: false, text: $0) }
  }

  private static func text(of finding: DamagedFiles.Finding, _ name: String, _ worker: String, path: String) -> String {
    func time(_ seconds: Int64) -> String { WallTime(milliseconds: seconds * 1_000).text }
    switch finding {
    case .marked:
      return "\(name) of \(worker) is damaged, and is saved as far as it can be at its next start"
    case .empty(let at):
      return "\(worker) found its ledger empty, \(time(at)), a file of 0 bytes, and goes on with a new one: what "
        + "stood in it is lost, unless that was its first start. The empty file is \(path): remove it, and this is "
        + "told no longer"
    case .aside(let at, let words):
      return "\(worker) found its ledger damaged, \(time(at)), and goes on with what could be read: "
        + "\(words ?? "its log says what is lost"). The damaged file is \(path): once you need it no more, remove it, "
        + "and this is told no longer"
    case .missing(let at, let words):
      let end = name.ranges(of: ".missing-").last?.lowerBound ?? name.endIndex
      return "\(worker) found that its ledger, \(name[..<end]), lacks commits, \(time(at)): "
        + "\(words ?? "its log says how many"). Once you have taken note, remove \(path), and this is told no longer"
    }
  }
}
