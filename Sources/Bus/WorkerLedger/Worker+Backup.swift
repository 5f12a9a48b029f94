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
    in directory: String, adding more: @escaping @EventLoopActor () throws(Refusal) -> [String: HeldFile] = { [:] }
  ) {
    serveBackup(in: directory) { milliseconds throws(Refusal) in
      var files = try more()
      do throws(StorageFault) {
        for file in StorageFile.allOpen {
          guard file.path.hasPrefix(directory + "/") else {
            throw StorageFault(.failed, path: file.path, "is not in the worker's directory, and so in no backup")
          }
          let name = String(decoding: file.path.utf8.dropFirst(directory.utf8.count + 1), as: UTF8.self)
          files[name] = .database(try await file.hold(milliseconds: milliseconds))
        }
      } catch {
        throw Refusal(error.mayPass ? .unavailable : .failed, error.description, outcome: .notStarted)
      }
      return files
    }
  }
}
