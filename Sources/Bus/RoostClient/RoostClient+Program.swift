internal import EventLoop
public import Frames
internal import Glibc

extension RoostClient {
  /// The complete main function of a small program: makes a client, runs `body` on the loop, leaves the bus, exits.
  ///
  /// Exit code 0 when `body` returns, 1 with its refusal on standard error when it throws.
  public nonisolated static func run(
    _ settings: ClientSettings, _ body: @escaping @Sendable @EventLoopActor (RoostClient) async throws(Refusal) -> Void
  ) -> Never {
    EventLoopActor.task {
      let client = RoostClient(settings)
      do throws(Refusal) {
        try await body(client)
        client.close()
        exit(0)
      } catch {
        let text = "\(settings.name): \(error.message) (\(error.code))\n"
        _ = text.withCString { write(STDERR_FILENO, $0, strlen($0)) }
        exit(1)
      }
    }
    EventLoop.process.run()
    exit(0)
  }
}
