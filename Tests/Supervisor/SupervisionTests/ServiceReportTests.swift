import Clocks
import Supervision
import Testing

@Suite("What a service manager hears")
struct ServiceReportTests {
  private typealias Worker = ServiceReport.Worker
  private let now = Instant(nanoseconds: 5_000_000_000)

  @Test("It is ready when each worker is, or has had its chance; the order of starts is waited for")
  func readiness() {
    var report = ServiceReport()
    let store = Worker(name: "store", state: .starting, deadline: now.advanced(milliseconds: 10_000))
    var relay = Worker(name: "relay", state: .waiting(.dependencies(["store"])))
    #expect(
      report.looked(at: [store, relay], now: now) == [
        "EXTEND_TIMEOUT_USEC=25000000", "STATUS=Starting; 0 of 2 workers ready; coming: store, relay",
      ])
    #expect(report.looked(at: [store, relay], now: now).isEmpty)
    let up = Worker(name: "store", state: .ready)
    // The store is ready, and the relay has not been started yet.
    #expect(!report.looked(at: [up, relay], now: now).contains("READY=1"))
    relay.state = .ready
    #expect(report.looked(at: [up, relay], now: now) == ["READY=1", "STATUS=2 of 2 workers ready"])
    #expect(report.looked(at: [up, relay], now: now).isEmpty)
  }

  @Test("A worker that cannot start, and those that wait for it, do not hold it up, and are named")
  func trouble() {
    var report = ServiceReport()
    let store = Worker(name: "store", state: .backoff(until: now.advanced(milliseconds: 100)))
    let relay = Worker(name: "relay", state: .waiting(.dependencies(["store"])))
    #expect(
      report.looked(at: [store, relay], now: now) == [
        "READY=1", "STATUS=0 of 2 workers ready; store has died and is started again, relay is starting",
      ])
    let long = (0..<40).map { Worker(name: "worker-\($0)", state: .held) }
    #expect(report.looked(at: long, now: now)[0].count <= ServiceReport.statusCountMaximum + "STATUS=".count)
  }

  @Test("While a worker asks for more time, so does the supervisor, and says what the worker does")
  func rescue() {
    var report = ServiceReport()
    var store = Worker(
      name: "store", state: .starting, note: "rescues events.db, 10 %", deadline: now.advanced(milliseconds: 10_000))
    _ = report.looked(at: [store], now: now)
    store.note = "rescues events.db, 20 %"
    store.deadline = now.advanced(milliseconds: 300_000)
    let later = now.advanced(milliseconds: 1_000)
    #expect(
      report.looked(at: [store], now: later) == [
        "EXTEND_TIMEOUT_USEC=314000000",
        "STATUS=Starting; 0 of 1 worker ready; coming: store: rescues events.db, 20 %",
      ])
    // After READY a worker that starts again is its own matter.
    store.state = .ready
    _ = report.looked(at: [store], now: later)
    store.state = .starting
    store.deadline = later.advanced(milliseconds: 900_000)
    #expect(
      report.looked(at: [store], now: later) == [
        "STATUS=0 of 1 worker ready; store is starting: rescues events.db, 20 %"
      ])
  }

  @Test("A reload is between RELOADING and READY, and has no place before the first READY or while it stops")
  func reloading() {
    var report = ServiceReport()
    #expect(report.reloadBegan(monotonicMicroseconds: 1).isEmpty && report.reloadEnded().isEmpty)
    let up = [Worker(name: "store", state: .ready)]
    _ = report.looked(at: up, now: now)
    #expect(
      report.reloadBegan(monotonicMicroseconds: 7) == [
        "RELOADING=1", "MONOTONIC_USEC=7", "STATUS=Reloading the configuration",
      ])
    #expect(report.reloadEnded() == ["READY=1"])
    #expect(report.looked(at: up, now: now) == ["STATUS=1 of 1 worker ready"])
    #expect(
      report.stopBegan(now: now, by: now.advanced(milliseconds: 20_000)) == [
        "STOPPING=1", "EXTEND_TIMEOUT_USEC=35000000",
      ])
    #expect(report.reloadBegan(monotonicMicroseconds: 8).isEmpty)
    #expect(report.looked(at: up, now: now) == ["STATUS=Stopping; still there: store"])
  }
}
