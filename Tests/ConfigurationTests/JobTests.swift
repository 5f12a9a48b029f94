import Testing

@testable import Configuration

@Suite("What a provider of jobs serves")
struct JobTests {
  private func provider(_ text: String) throws -> (SupervisorConfiguration, WorkerConfiguration) {
    let configuration = try parse(text)
    return (configuration, try #require(configuration.worker(named: "dvm-provider")))
  }

  private func sent(_ text: String) throws -> [ConfigurationValue] {
    let (configuration, worker) = try provider(text)
    guard case .array(let jobs)? = configuration.settingsSent(to: worker)["jobs"] else { return [] }
    return jobs
  }

  @Test("Without a table it is the two built-in services")
  func standard() throws {
    let jobs = try sent("[worker.dvm-provider]")
    #expect(jobs.map { $0["kind"] } == [.integer(5_302), .integer(5_400)])
    #expect(jobs.map { $0["builtin"] } == [.string("search"), .string("count")])
    let (_, worker) = try provider("[worker.dvm-provider]")
    #expect(worker.sandboxVariables == [:])
    #expect(try parse("[worker.signer]").workers[0].jobs.isEmpty)
  }

  @Test("A table changes one, takes one away, or adds one")
  func tables() throws {
    let text = """
      [worker.dvm-provider]
      customers = ["\(String(repeating: "ab", count: 32))"]
      [worker.dvm-provider.job.5302]
      enabled = false
      [worker.dvm-provider.job.5400]
      program = ["/bin/count", "-v"]
      time = "2s"
      [worker.dvm-provider.job.5001]
      program = ["jobs/shorten"]
      read = ["models", "/srv/x"]
      network = true
      environment = ["A=b=c"]
      """
    let jobs = try sent(text)
    #expect(jobs.map { $0["kind"] } == [.integer(5_001), .integer(5_400)])
    #expect(jobs[1]["program"] == .array([.string("/bin/count"), .string("-v")]))
    #expect(jobs[1]["builtin"] == .string(""))
    #expect(jobs[1]["timeMilliseconds"] == .integer(2_000))
    let (configuration, worker) = try provider(text)
    #expect(worker.sandboxVariables["ROOST_JOB_NETWORK"] == "1")
    #expect(worker.sandboxVariables["ROOST_JOB_PROGRAMS"]?.hasSuffix("/jobs/shorten:/bin/count") == true)
    #expect(worker.sandboxVariables["ROOST_JOB_READ"]?.hasSuffix("/models:/srv/x") == true)
    #expect(try parse(configuration.effective) == configuration)
  }

  @Test("An account that looks like a key has to be one; whether there is one of a name the signer alone knows")
  func accounts() throws {
    let text = "[worker.dvm-provider]\naccount = "
    #expect(complaints(about: text + "\"npub1xyz\"").first?.contains("\"npub1xyz\" is no public key") == true)
    #expect(try parse(text + "\"alice\"").workers.count == 1)
  }

  @Test("A change of it restarts the worker, and says which key it was")
  func changes() throws {
    let old = try parse("[worker.dvm-provider]")
    let new = try parse(
      "[worker.dvm-provider.job.5400]\ntime = \"2s\"\n[worker.dvm-provider.job.5001]\nprogram = [\"/bin/cat\"]")
    let change = try #require(new.changes(from: old).first { $0.subject == .worker("dvm-provider") })
    #expect(change.kind == .changed(.restartsWorker))
    #expect(change.keys.map(\.name) == ["job.5001", "job.5400.time"])
  }
}
