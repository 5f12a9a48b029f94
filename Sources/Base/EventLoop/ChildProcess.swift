internal import CLibUV
internal import Glibc

/// How a child process ended.
public struct ChildExit: Sendable, Equatable {
  /// Exit code, if the process exited.
  public let code: Int64
  /// Number of the signal that ended it, or 0.
  public let signal: Int32
}

/// A child process spawned by the loop. Nothing else in a Roost process may spawn: libuv reaps what it spawned, and
/// another library that reaps would take the exit status from it.
@EventLoopActor
public final class ChildProcess {
  private let handle: Handle<uv_process_t>
  private var onExit: (@EventLoopActor (ChildExit) -> Void)?
  /// The process id; it may be shown and signalled only while ``isRunning``.
  public private(set) var pid: Int32 = 0
  /// True until the process is reaped; until then no other process can have its pid.
  public private(set) var isRunning = false

  /// Starts a program.
  ///
  /// `descriptors[i]` becomes descriptor i of the child (nil: /dev/null for 0–2, closed above); the caller still closes
  /// its own. `environment` holds `NAME=VALUE`. libuv resets signal dispositions to their defaults in the child.
  ///
  /// - Throws: the error of `fork` or `exec`, such as ENOENT.
  public init(
    path: String, arguments: [String], environment: [String], descriptors: [Int32?],
    onExit: @escaping @EventLoopActor (ChildExit) -> Void
  ) throws(LoopFault) {
    handle = Handle<uv_process_t>()
    self.onExit = onExit
    handle.setOwner(self)
    let status = Self.spawn(
      handle, path: path, arguments: arguments, environment: environment, descriptors: descriptors)
    if status < 0 {
      // A failed uv_spawn leaves an initialised handle behind.
      handle.close()
      throw LoopFault(code: status, doing: "start \(path)")
    }
    pid = uv_process_get_pid(handle.raw)
    isRunning = true
    // Until the exit callback the object must stay reachable, even if its owner releases it.
    _ = Unmanaged.passRetained(self)
  }

  /// Sends a signal to the process, or to its whole group if it leads one. Does nothing once the process was reaped.
  public func signal(_ number: Int32, toGroup: Bool = false) {
    guard isRunning else { return }
    kill(toGroup ? -pid : pid, number)
  }

  private func didExit(_ exit: ChildExit) {
    isRunning = false
    handle.close()
    let callback = onExit
    onExit = nil
    Unmanaged.passUnretained(self).release()
    callback?(exit)
  }

  private static func spawn(
    _ handle: Handle<uv_process_t>, path: String, arguments: [String], environment: [String], descriptors: [Int32?]
  ) -> Int32 {
    var argumentPointers: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) } + [nil]
    var environmentPointers: [UnsafeMutablePointer<CChar>?] = environment.map { strdup($0) } + [nil]
    defer { for pointer in argumentPointers + environmentPointers { free(pointer) } }
    var containers = descriptors.map { descriptor in
      var container = uv_stdio_container_t()
      container.flags = descriptor == nil ? UV_IGNORE : UV_INHERIT_FD
      if let descriptor { container.data.fd = descriptor }
      return container
    }
    var options = uv_process_options_t()
    options.exit_cb = { process, code, signal in
      EventLoopActor.assumeOnLoop {
        owner(of: process?.pointee.data, as: ChildProcess.self)?.didExit(ChildExit(code: code, signal: signal))
      }
    }
    return path.withCString { file in
      argumentPointers.withUnsafeMutableBufferPointer { arguments in
        environmentPointers.withUnsafeMutableBufferPointer { environment in
          containers.withUnsafeMutableBufferPointer { containers in
            options.file = file
            options.args = arguments.baseAddress
            options.env = environment.baseAddress
            options.stdio = containers.baseAddress
            options.stdio_count = Int32(containers.count)
            return uv_spawn(EventLoop.process.raw, handle.raw, &options)
          }
        }
      }
    }
  }
}
