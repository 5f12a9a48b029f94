import Testing

@testable import RoostConfiguration

@Suite("Programs of the user's")
struct UserProgramTests {
  private func doubts(_ text: String) -> [String] {
    Configuration.check(
      path: "x.conf", surroundings: checkout,
      readFile: { (_: String) throws(FileReading.Failure) -> [UInt8]? in Array(text.utf8) },
      permissionCheck: { _ in nil }, program: { $0.hasPrefix("/nowhere/") ? .missing : .runnable }
    ).doubts.map(\.description)
  }

  private func page(_ text: String) throws -> WorkerConfiguration {
    try #require(try parse("[worker.link-page]\n" + text).worker(named: "link-page"))
  }

  @Test("Without a program the page's sandbox allows none")
  func none() throws {
    let worker = try page("programs-read = [\"/srv/x\"]")
    #expect(worker.sandboxVariables == [:] && !worker.runsUserPrograms)
  }

  @Test("The page's sandbox allows its programs, and for each what it opens sockets for")
  func page() throws {
    let notify = try page("notify = [\"/usr/bin/notify-send\", \"-u\", \"low\"]\n")
    #expect(notify.sandboxVariables == ["ROOST_JOB_PROGRAMS": "/usr/bin/notify-send", "ROOST_JOB_UNIX": "1"])
    let extractor = try page("extractor = [\"/usr/bin/yt-dlp\"]\nprograms-read = [\"/srv/x\", \"/srv/y\"]\n")
    #expect(
      extractor.sandboxVariables == [
        "ROOST_JOB_PROGRAMS": "/usr/bin/yt-dlp", "ROOST_JOB_READ": "/srv/x:/srv/y", "ROOST_JOB_NETWORK": "1",
      ])
    let both = try page("notify = [\"/bin/a\"]\nextractor = [\"/bin/b\"]\nprograms-read = [\"/srv/x\"]\n")
    #expect(
      both.sandboxVariables == [
        "ROOST_JOB_PROGRAMS": "/bin/a:/bin/b", "ROOST_JOB_READ": "/srv/x", "ROOST_JOB_NETWORK": "1",
        "ROOST_JOB_UNIX": "1",
      ])
    #expect(both.runsUserPrograms && !both.servesStrangers)
    #expect(both.userPrograms.map(\.name) == ["notify", "extractor"])
  }

  @Test("A missing program, a file that it may not read, and a list's missing path are doubted, each once")
  func doubts() {
    let text = """
      [worker.link-page]
      notify = ["/nowhere/notify"]
      extractor = ["/bin/extract", "--cookies", "/srv/cookies"]
      programs-read = ["/nowhere/list"]
      """
    let found = doubts(text)
    #expect(
      found == [
        "x.conf:2: [worker.link-page] notify: /nowhere/notify is not there",
        "x.conf:3: [worker.link-page] extractor[2]: /srv/cookies is there, and the program may not read it;"
          + " name it in programs-read",
        "x.conf:4: [worker.link-page] programs-read: /nowhere/list is not there, and stays denied if it comes later",
      ])
  }
}
