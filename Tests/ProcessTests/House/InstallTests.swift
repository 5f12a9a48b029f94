import Contracts
import Glibc
import TestSupport
import Testing

/// What `make install` says at its end: commands for what it has just installed, wherever that is.
@Suite("Installing") struct InstallTests {
  private func told(_ prefix: String, _ environment: [String] = []) throws -> String {
    let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(4).joined(separator: "/")
    let process = try SpawnedProcess(
      "/bin/bash", ["\(root)/Scripts/install.sh", "--dry-run", prefix, "roostd"],
      environment: ["PATH=/usr/bin:/bin", "HOME=/home/ada"] + environment)
    let text = try process.readAllOutput()
    #expect(try process.waitForEnd() == .exited(0), "\(text)")
    return text
  }

  @Test("In the home directory the unit is enabled by its name, and the settings are named")
  func home() throws {
    #expect(
      try told("/home/ada/.local") == """
        Installed:
          programs  /home/ada/.local/bin/roostd, /home/ada/.local/bin/roost
          settings  /home/ada/.config/roost/supervisor.conf (new)
          unit      /home/ada/.local/share/systemd/user/roost.service
        To start it now and at every login:
          systemctl --user daemon-reload && systemctl --user enable --now roost
        Or in this terminal, without systemd:
          /home/ada/.local/bin/roostd --config /home/ada/.config/roost/supervisor.conf
        Then:
          /home/ada/.local/bin/roost status

        """)
  }

  @Test("Elsewhere, where systemd does not look, the unit is enabled by its path")
  func elsewhere() throws {
    let text = try told("/srv/roost/")
    #expect(text.contains("systemctl --user enable --now /srv/roost/lib/systemd/user/roost.service\n"))
    #expect(try told("/home/ada/apps").contains("--now /home/ada/apps/share/systemd/user/roost.service\n"))
    #expect(try told("/usr/local").contains("enable --now roost\n"))
  }

  @Test("Programs that PATH finds are called by their names; a staged tree is for packagers")
  func names() throws {
    let text = try told("/usr")
    #expect(text.contains("\n  roostd --config ") && text.contains("\n  roost status\n"))
    #expect(try told("/usr", ["DESTDIR=/tmp/stage"]).hasPrefix("Staged under /tmp/stage for /usr. "))
  }

  @Test("The version names the commit that is written beside the program, and nothing that is no commit")
  func commit() throws {
    let directory = try TemporaryDirectory()
    let program = directory.path + "/roost"
    let copy = try SpawnedProcess("/bin/cp", [SpawnedProcess.builtProgram("roost"), program])
    try #require(try copy.waitForEnd() == .exited(0))
    for (text, said) in [
      ("", ""), ("3f2a9c41d07b\n", " (3f2a9c41d07b)"), ("3f2a9c41d07b+\n", " (3f2a9c41d07b+)"),
      ("3f2\n", ""), ("no commit\n", ""),
    ] {
      let file = try #require(fopen(directory.path + "/commit", "w"))
      fputs(text, file)
      fclose(file)
      let told = try SpawnedProcess(program, ["--version"]).readAllOutput()
      #expect(told == "\(RoostVersion.text)\(said)\n", "\(text)")
    }
  }
}
