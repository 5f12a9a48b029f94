import Contracts
import Glibc
import LinuxSystem
import TestSupport
import Testing

extension ProcessTests {
  /// `roost links share` with a real signer, read by another program's eyes.
  @Suite("roost links share")
  struct LinkShareTests {
    private func environment(_ rig: SignerRig) -> [String] {
      ["PATH=/usr/bin:/bin", "ROOST_SOCKET=\(rig.roost.socket)"]
    }

    @Test(
      "The code on a terminal says the npub, in colours and without, where another program reads it",
      .enabled(if: QRReader.isAvailable, "no zxing-cpp in .venv: run Scripts/python-environment.sh"))
    func drawn() throws {
      try SignerRig.run { rig in
        let npub = try rig.generate("alice").npub
        for isColoured in [true, false] {
          let terminal = try PseudoTerminal()
          let process = try terminal.start(
            SpawnedProcess.builtProgram("roost"), ["links", "share"] + (isColoured ? [] : ["--qr"]),
            environment: environment(rig), isColoured: isColoured)
          try terminal.awaitText(npub)
          #expect(try process.waitForEnd() == .exited(0))
          #expect(terminal.text.contains("\u{1B}[38;5;16;48;5;231m") == isColoured)
          #expect(try QRReader.read(terminal.text) == ["QRCode \(npub)"])
        }
      }
    }

    @Test("A pipe, and a terminal without colours, get the npub alone; a narrow terminal learns why there is no code")
    func plain() throws {
      try SignerRig.run { rig in
        let account = try rig.generate("alice")
        #expect(try rig.roost.tool(["links", "share"]).output == account.npub + "\n")
        #expect(try rig.roost.tool(["links", "share", "alice", "--qr"]).output.contains("▀"))
        let json = try rig.roost.tool(["links", "share", "--json"])
        #expect(json.output.contains(#""npub":"\#(account.npub)""#) && json.ending == .exited(0))
        #expect(try rig.roost.tool(["links", "share", "bob"]).ending == .exited(1))

        let plain = try PseudoTerminal()
        let process = try plain.start(
          SpawnedProcess.builtProgram("roost"), ["links", "share"], environment: environment(rig))
        #expect(try process.waitForEnd() == .exited(0))
        try plain.awaitText(account.npub)
        #expect(!plain.text.contains("▀"))

        let narrow = try PseudoTerminal(columns: 40)
        let other = try narrow.start(
          SpawnedProcess.builtProgram("roost"), ["links", "share", "--qr"], environment: environment(rig))
        #expect(try other.waitForEnd() == .exited(0))
        try narrow.awaitText("too narrow")
        #expect(!narrow.text.contains("▀"))
      }
    }
  }
}
