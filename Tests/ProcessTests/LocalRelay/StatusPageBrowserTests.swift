import Glibc
import LinuxSystem
import TestSupport
import Testing

extension ProcessTests {
  /// Debian's browsers go through the status page as a person does (`Tests/Peers/status_page.py`), with charts of
  /// thirty days. `ROOST_PICTURES=FOLDER` keeps a picture of each view.
  @Suite("The status page in a browser")
  struct StatusPageBrowserTests {
    private static func has(_ programs: String...) -> Bool {
      PythonPeer.isAvailable && programs.allSatisfy { access("/usr/bin/\($0)", X_OK) == 0 }
    }

    @Test(
      "Chromium shows it light, dark, narrow, by keyboard and without a script, and axe finds nothing",
      .enabled(if: has("chromium", "chromedriver"), "no chromium and chromium-driver: run Scripts/browsers.sh"))
    func chromium() throws { try Self.visit("chromium") }

    @Test(
      "Firefox shows it dark, narrow and by keyboard, and axe finds nothing",
      .enabled(if: has("firefox-esr"), "no firefox-esr: run Scripts/browsers.sh"))
    func firefox() throws { try Self.visit("firefox") }

    private static func visit(_ browser: String) throws {
      try withLocalRelay { roost, port in
        #expect(try roost.command(["stop", "local-relay"]).status == .exited(0))
        let peers = SharedFolder.repository + "/Tests/Peers"
        let filled = try SpawnedProcess(
          PythonPeer.interpreter,
          [peers + "/thirty_days.py", roost.directory.path + "/state/local-relay/figures.db", "\(WallClock.seconds)"])
        let complaint = try filled.readAllOutput(within: 60)
        #expect(try filled.waitForEnd() == .exited(0), "\(complaint)")
        #expect(try roost.command(["start", "local-relay"]).status == .exited(0))
        let pictures = getenv("ROOST_PICTURES").map { ["--pictures", String(cString: $0)] } ?? []
        let process = try SpawnedProcess(
          PythonPeer.interpreter, [peers + "/status_page.py", "\(port)", browser] + pictures,
          environment: [
            "PYTHONUNBUFFERED=1", "HOME=\(roost.directory.path)", "PATH=/usr/local/bin:/usr/bin:/bin",
          ])
        let output = try process.readAllOutput(within: 180)
        #expect(output.hasSuffix("done\n"), "\(output)")
      }
    }
  }
}
