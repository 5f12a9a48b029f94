/// A `supervisor.conf` for a test: short deadlines, no waiting between restarts, workers that misbehave.
struct Layout {
  /// One `[worker.NAME]`; values are TOML literals.
  struct Worker {
    var name = "example"
    var arguments: [String] = []
    var keys: [String: String] = [:]
    var limits: [String: String] = [:]
    /// Further tables, `[worker.NAME.TABLE]`, by the rest of their names.
    var tables: [String: [String: String]] = [:]
    /// `[worker.NAME.job.KIND]` by kind.
    var jobs: [Int: [String: String]] = [:]

    /// Restarted at once and for ever, so that a test waits for nothing but its own deeds.
    static let standardKeys = [
      "role": "\"example\"", "start-deadline": "\"20s\"", "drain-deadline": "\"5s\"", "term-deadline": "\"500ms\"",
      "stuck-after": "\"60s\"", "backoff-base": "\"10ms\"", "backoff-ceiling": "\"20ms\"", "stable-after": "\"100ms\"",
      "breaker-restarts": "1000", "breaker-window": "\"22s\"", "sandbox": "\"off\"",
    ]
  }

  var workers = [Worker()]
  var supervisor: [String: String] = [:]
  var bus: [String: String] = [:]
  var log: [String: String] = [:]
  /// Further keys of `[role.example]`.
  var roleKeys: [String: String] = [:]
  /// Environment of roostd, beside what it always gets.
  var environment: [String] = []
  /// A whole file in place of all this; `@DIRECTORY@` in it is the test's folder.
  var whole: String?

  /// One worker with these flags and settings.
  static func one(_ arguments: [String] = [], _ keys: [String: String] = [:]) -> Layout {
    Layout(workers: [Worker(arguments: arguments, keys: keys)])
  }

  func text(directory: String, program: String) -> String {
    if let whole { return whole.replacing("@DIRECTORY@", with: directory) }
    var supervisor = [
      "state-directory": "\"\(directory)/state\"", "run-directory": "\"\(directory)/run\"",
      "log-directory": "\"\(directory)/log\"", "socket": "\"\(directory)/roost.sock\"", "spawn-rate": "1000",
      "drain-deadline": "\"8s\"",
    ]
    supervisor.merge(self.supervisor) { _, new in new }
    var bus = ["deliveries-maximum": "100"]
    bus.merge(self.bus) { _, new in new }
    var text = Layout.table("supervisor", supervisor) + Layout.table("bus", bus) + Layout.table("log", log)
    let role = ["serves": "[\"example.*\"]", "callable-by": "[\"client\"]"]
    text += Layout.table("role.example", role.merging(roleKeys) { _, new in new })
    for worker in workers {
      var keys = Worker.standardKeys
      keys["program"] = "\"\(program)\""
      keys["arguments"] = "[" + worker.arguments.map { "\"\($0)\"" }.joined(separator: ", ") + "]"
      keys.merge(worker.keys) { _, new in new }
      text += Layout.table("worker.\(worker.name)", keys)
      for (kind, keys) in worker.jobs.sorted(by: { $0.key < $1.key }) {
        text += Layout.table("worker.\(worker.name).job.\(kind)", keys)
      }
      for (table, keys) in worker.tables.sorted(by: { $0.key < $1.key }) {
        text += Layout.table("worker.\(worker.name).\(table)", keys)
      }
      if !worker.limits.isEmpty { text += Layout.table("worker.\(worker.name).limits", worker.limits) }
    }
    return text
  }

  private static func table(_ name: String, _ keys: [String: String]) -> String {
    "[\(name)]\n" + keys.sorted { $0.key < $1.key }.map { "\($0.key) = \($0.value)\n" }.joined()
  }
}
