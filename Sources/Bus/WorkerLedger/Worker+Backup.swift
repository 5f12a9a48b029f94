internal import Contracts
internal import EventLoop
public import Frames
public import Storage
public import WorkerKit

extension StorageSnapshot: HeldDatabase {
  /// Writes the state into a new file.
  public func copy(to path: String, while isWanted: @escaping () -> Bool) throws(Refusal) {
    do throws(StorageFault) { try write(to: path, while: isWanted) } catch {
      throw Refusal(
        error.kind == .full ? .diskFull : .failed, "the copy for a backup failed: \(error.description)",
        outcome: .unknown)
    }
  }
}

extension Worker {
  /// Serves `backup.*`, with every database that this process has open.
  ///
  /// - Parameters:
  ///   - directory: the worker's directory.
  ///   - more: small files in addition, by their names relative to `directory`.
  public func serveBackup(
    in directory: String, adding more: @escaping @EventLoopActor () throws(Refusal) -> [String: [UInt8]] = { [:] }
  ) {
    serveBackup(in: directory) { milliseconds throws(Refusal) in
      var files = try more().mapValues { HeldFile.bytes($0) }
      do throws(StorageFault) {
        for file in StorageFile.allOpen {
          let name = file.path.hasPrefix(directory + "/") ? String(file.path.dropFirst(directory.utf8.count + 1)) : nil
          guard let name else { continue }
          files[name] = .database(try await file.hold(milliseconds: milliseconds))
        }
      } catch {
        throw Refusal(error.mayPass ? .unavailable : .failed, error.description, outcome: .notStarted)
      }
      return files
    }
  }
}
