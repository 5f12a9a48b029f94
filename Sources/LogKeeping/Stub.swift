public import Contracts
public import EventLoop
public import MessageHub
public import Configuration
@EventLoopActor public final class LogBook {
  public final class Subscription {}
  public init(_ s: LogSettings, directory: String) {}
  public var echo: (@EventLoopActor (LogRecord) -> Void)?
  public func append(worker: String, level: String, category: String, message: String) {
    echo?(LogRecord(time: timeNow(), worker: worker, level: level, category: category, message: message))
  }
  public func tail(worker: String?, lines: Int) -> [LogRecord] { [] }
  public func follow(_ b: @escaping @EventLoopActor (LogRecord) -> Void) -> Subscription { Subscription() }
  public func setLevel(category: String, _ l: LogLevel) {}
  public func droppedLines(of w: String) -> UInt64 { 0 }
  public func timeNow() -> String { "2026-01-01T00:00:00.000Z" }
  public var levelWords: [String: String] { [:] }
  public func reopen() {}
  public func adopt(_ s: LogSettings) {}
  public func flush(deadlineMilliseconds: UInt64, _ done: @escaping @EventLoopActor () -> Void) { done() }
}
public enum LogStream: Sendable { case standardOutput, standardError }
@EventLoopActor public final class LogPipe {
  public init(descriptor: Int32, worker: String, stream: LogStream, book: LogBook) throws {}
  public func processEnded() {}
}
@EventLoopActor public final class DeadLetterStore {
  public init(directory: String, countMaximum: Int) {}
  public var count: Int { 0 }
  public var records: [DeadLetterRecord] { [] }
  public func keep(_ l: DeadLetter, method: String, time: String) -> String { "" }
  public func drop(_ id: String) {}
}
