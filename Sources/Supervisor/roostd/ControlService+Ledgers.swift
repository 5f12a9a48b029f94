import RoostConfiguration
import Contracts
import Frames
import Glibc
import Logs

// A worker that finds its ledger damaged puts it aside and continues with what can be read of it, and one whose ledger
// lacks commits continues without them (`LedgerFile`); what it said of that is in the log of one start. The files stay,
// and the worker's words beside them, and the doctor tells of them until a person removes them.

/// What is in a worker's directory because a ledger was damaged.
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

    /// Seconds since 1970; what is still to come is last.
    var time: Int64 {
      switch self {
      case .marked: .max
      case .empty(let time), .aside(let time, _), .missing(let time, _): time
      }
    }
  }

  /// What was found of each ledger, by its name: the last finding, its file's name, and how many were before it.
  private(set) var ledgers: [(ledger: String, name: String, finding: Finding, earlierCount: Int)] = []

  private static let mark = ".is-damaged"
  /// Most entries that are looked at: a ledger's directory holds a few.
  private static let entryMaximum = 10_000
  /// Most bytes of a worker's words.
  private static let wordByteCountMaximum = 1_024

  init(in directory: String) {
    guard let folder = opendir(directory) else { return }
    defer { closedir(folder) }
    var files: [String: [(name: String, finding: Finding)]] = [:]
    var count = 0
    while count < Self.entryMaximum, let entry = readdir(folder) {
      count += 1
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      let path = "\(directory)/\(name)"
      if name.hasSuffix(Self.mark) {
        files[String(name.dropLast(Self.mark.count)), default: []].append((name, .marked))
      } else if let (ledger, time) = Self.parts(of: name, around: ".missing-") {
        files[ledger, default: []].append((name, .missing(time, words: Self.words(path))))
      } else if let (ledger, time) = Self.parts(of: name, around: ".damaged-") {
        var status = stat()
        let isEmpty = stat(path, &status) == 0 && status.st_size == 0
        let finding = isEmpty ? Finding.empty(time) : .aside(time, words: Self.words(path + ".text"))
        files[ledger, default: []].append((name, finding))
      }
    }
    for (ledger, findings) in files.sorted(by: { $0.key < $1.key }) {
      guard let last = findings.max(by: { ($0.finding.time, $0.name) < ($1.finding.time, $1.name) }) else { continue }
      ledgers.append((ledger, last.name, last.finding, findings.count - 1))
    }
  }

  private static func parts(of name: String, around word: String) -> (ledger: String, time: Int64)? {
    guard let range = name.ranges(of: word).last, let time = Int64(name[range.upperBound...]) else { return nil }
    return (String(name[..<range.lowerBound]), time)
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
  /// Ledgers that were found damaged: publications, jobs, requests for jobs. Of the events their store tells itself,
  /// which knows more.
  func ledgerChecks() -> [DoctorResult.Check] {
    var texts: [String] = []
    for worker in daemon.workers where worker.role != .eventStore {
      let directory = "\(daemon.configuration.supervisor.stateDirectory)/\(worker.name)"
      for (ledger, name, finding, earlierCount) in DamagedFiles(in: directory).ledgers {
        let text = Self.text(of: finding, ledger, worker.name, path: "\(directory)/\(name)")
        let earlier = "; of \(Amount.count(earlierCount, "earlier loss", "earlier losses")) there are files beside it"
        texts.append(earlierCount > 0 ? text + earlier : text)
      }
    }
    guard !texts.isEmpty else {
      return [DoctorResult.Check(name: "ledgers", isGood: true, text: "none is known to have been damaged")]
    }
    return texts.map { .init(name: "ledgers", isGood: false, text: $0) }
  }

  private static func text(of finding: DamagedFiles.Finding, _ ledger: String, _ worker: String, path: String) -> String
  {
    func time(_ seconds: Int64) -> String { WallTime(milliseconds: seconds * 1_000).text }
    let remove = "To end this message, remove"
    switch finding {
    case .marked:
      return "\(worker)'s ledger \(ledger) is damaged. What can be read is saved at its next start: "
        + "roost restart \(worker)"
    case .empty(let at):
      return "\(worker) found its ledger \(ledger) empty (0 bytes), \(time(at)), and started a new one: what it held "
        + "is lost, unless that was its first start. \(remove) \(path)"
    case .aside(let at, let words):
      return "\(worker) found its ledger \(ledger) damaged, \(time(at)), and continues with what could be read: "
        + "\(words ?? "its log says what is lost"). \(remove) the damaged file, \(path)"
    case .missing(let at, let words):
      return "\(worker) found that its ledger \(ledger) lacks commits, \(time(at)): "
        + "\(words ?? "its log says how many"). \(remove) \(path)"
    }
  }
}
