import RoostConfiguration
import Contracts
import Glibc
import LogKeeping

// A worker that finds its ledger damaged puts it aside and goes on with what can be read of it (`RescuableFile`); what
// it said of that is in the log of one start. The files stay, and tell it for as long as somebody needs them.

/// What stands in a worker's directory because a ledger was damaged.
private struct DamagedFiles {
  /// When each was put aside, by its name, and whether it has no bytes; nil: it is to be at the next start.
  private(set) var files: [(name: String, at: Int64?, isEmpty: Bool)] = []

  private static let mark = ".is-damaged"
  private static let word = ".damaged-"
  /// Most entries that are looked at: a ledger's directory holds a few.
  private static let entryMaximum = 10_000

  init(in directory: String) {
    guard let folder = opendir(directory) else { return }
    defer { closedir(folder) }
    var count = 0
    while count < Self.entryMaximum, let entry = readdir(folder) {
      count += 1
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if name.hasSuffix(Self.mark) {
        files.append((String(name.dropLast(Self.mark.count)), nil, false))
      } else if let place = name.ranges(of: Self.word).last, let time = Int64(name[place.upperBound...]) {
        var status = stat()
        let isEmpty = stat("\(directory)/\(name)", &status) == 0 && status.st_size == 0
        files.append((name, time, isEmpty))
      }
    }
    files.sort { $0.name < $1.name }
  }
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
        guard let at = file.at else {
          texts.append("\(file.name) of \(worker.name) is damaged, and is saved as far as it can be at its next start")
          continue
        }
        let (time, path) = (WallTime(milliseconds: at * 1_000).text, "\(directory)/\(file.name)")
        texts.append(
          file.isEmpty
            ? "\(worker.name) found its ledger empty, \(time), a file of 0 bytes, and goes on with a new one: what "
              + "stood in it is lost, unless that was its first start. The empty file is \(path): remove it, and this is "
              + "told no longer"
            : "\(worker.name) found its ledger damaged, \(time), and goes on with what could be read; its log says "
              + "what is lost. The damaged file is \(path): once you need it no more, remove it, and this is told no "
              + "longer")
      }
    }
    guard !texts.isEmpty else {
      return [DoctorResult.Check(name: "ledgers", isGood: true, text: "none is known to have been damaged")]
    }
    return texts.prefix(Self.damagedFileMaximum).map { .init(name: "ledgers", isGood: false, text: $0) }
  }
}
