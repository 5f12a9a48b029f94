import Glibc
import TestSupport
import Testing

extension ProcessTests {
  /// `make site`: README and docs/ as pages that a browser reads without a network.
  @Suite("The site of the documentation")
  struct SiteTests {
    private static let environment = SharedFolder.repository + "/.venv-site/bin/python3"

    @Test("is built without a warning, and has no link that leads nowhere and nothing of another host")
    func built() throws {
      guard access(Self.environment, X_OK) == 0 else {
        return print("skipped: no .venv-site ('make python' makes it)")
      }
      let process = try SpawnedProcess(Self.environment, [SharedFolder.repository + "/Scripts/site.py"])
      let output = try process.readAllOutput(within: 120)
      #expect(try process.waitForEnd() == .exited(0), "\(output)")
      let site = SharedFolder.repository + "/.build-site/site/"
      for page in ["index.html", "connect.html", "workers/signer.html", "decisions/index.html", "search.html"] {
        #expect(access(site + page, R_OK) == 0, "\(page)")
      }
      #expect(access(site + "searchindex.js", R_OK) == 0, "the search is a script of the site")
    }

    @Test("is refused with a dead link, a place that is not there, and a script of another host")
    func refused() throws {
      guard access(Self.environment, X_OK) == 0 else {
        return print("skipped: no .venv-site ('make python' makes it)")
      }
      let folder = try TemporaryDirectory()
      let page = """
        <a href="b.html">gone</a> <a href="#c">no place</a> <a id="d" href="#d">good</a>
        <a href="https://host.example/x">good</a> <script src="https://host.example/x.js"></script>
        """
      let file = try #require(fopen(folder.path + "/a.html", "w"))
      fputs(page, file)
      fclose(file)
      let script = SharedFolder.repository + "/Scripts/site.py"
      let faults = "import runpy; print(*runpy.run_path('\(script)')['faults']('\(folder.path)'), sep='\\n')"
      let process = try SpawnedProcess(Self.environment, ["-c", faults])
      let output = try process.readAllOutput()
      #expect(
        output == """
          a.html: loads https://host.example/x.js
          a.html: links to b.html, which is not there
          a.html: links to #c; the page has no such place

          """)
    }
  }
}
