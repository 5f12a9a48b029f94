import Contracts
import Cryptography
import Glibc
import LinuxSystem
import Nostr
import TestSupport
import Testing

extension ProcessTests {
  /// Programs that do what they must not: each ends with a reason, and the provider goes on.
  @Suite("Programs of jobs that misbehave")
  struct ServingHostileTests {
    private static let limits = ["time": "\"3s\"", "memory": "\"64MiB\"", "disk": "\"4MiB\"", "processes": "8"]

    /// The reason that the customer is told; and then another request is answered.
    func reason(_ script: String, _ keys: [String: String] = [:]) throws -> String {
      var reason = ""
      // A request whose input says so is answered by the same program without harm.
      let both = "if grep -q harmless; then echo fine; else \(script)\nfi"
      try ServingRig.run(script: both, Self.limits.merging(keys) { $1 }) { rig in
        let before = try rig.roost.worker("dvm-provider", rig.client).pid
        reason = try rig.awaitError(rig.ask())
        #expect(try rig.awaitResult(rig.ask(content: "harmless")).content.text == "fine")
        #expect(try rig.roost.worker("dvm-provider", rig.client).pid == before)
        try awaitSoon("nothing of it is left") { rig.jobProcesses.isEmpty }
        #expect(rig.leftFolders.isEmpty)
      }
      return reason
    }

    @Test("One that fails is told with its code and its last words")
    func fails() throws {
      #expect(try reason("echo first >&2; echo no such model >&2; exit 3").hasSuffix("with code 3: no such model"))
    }

    @Test("One that crashes is told with its signal")
    func crashes() throws { #expect(try reason("kill -SEGV $$").contains("signal 11")) }

    @Test("One that hangs is ended when its time is over, with all that it has started")
    func hangs() throws { #expect(try reason("sleep 600 & sleep 600 & wait").contains("longer than the 3000 ms")) }

    @Test("One that will not be interrupted is ended all the same")
    func stubborn() throws {
      #expect(try reason("trap '' TERM INT HUP; while :; do sleep 1; done").contains("longer than"))
    }

    @Test("One that writes without end is ended at the bound of a result")
    func floods() throws { #expect(try reason("yes").contains("bytes that a result may have")) }

    @Test("One that writes without end to its feedback or its errors harms nobody")
    func floodsBeside() throws {
      try ServingRig.run(script: "yes >&3 & yes >&2 & sleep 1; echo done", Self.limits) { rig in
        let request = try rig.ask()
        #expect(try rig.awaitResult(request).content.text == "done")
        #expect(try rig.feedback(request).count <= 1)
      }
    }

    @Test("Of feedback a few lines pass, whatever a program writes")
    func feedbackFlood() throws {
      let line = #"{"status":"processing","message":"x"}"#
      try ServingRig.run(script: "for i in $(seq 1000); do echo '\(line)' >&3; done; echo done", Self.limits) { rig in
        let request = try rig.ask()
        #expect(try rig.awaitResult(request).content.text == "done")
        #expect(try rig.feedback(request).count < 20)
      }
    }

    @Test("One that forks again and again is ended, and so are all its children")
    func forks() throws {
      // It doubles at once, which leaves little time to those who look. It ends at some hundreds: one without an end
      // takes the numbers of all processes before it is found on a loaded machine, and other suites fail for it.
      let bomb = "f() { if [ $1 -gt 0 ]; then f $(($1 - 1)) & f $(($1 - 1)) & wait; else sleep 600; fi; }; f 8"
      let told = try reason(bomb, ["time": "\"30s\""])
      #expect(told.contains("processes, and 8 are allowed"), "\(told)")
    }

    @Test("One that takes too much memory is ended")
    func memory() throws {
      let told = try reason("exec /usr/bin/python3 -c 'x = b\"a\" * (200 << 20); import time; time.sleep(600)'")
      #expect(told.contains("memory") || told.contains("MemoryError"))
    }

    @Test("One whose tables of pages take too much memory is ended, though it has hardly a page")
    func pageTables() throws {
      let script = """
        import mmap, time
        try: size, flags = 96 << 30, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x4000  # MAP_NORESERVE
        except AttributeError: raise SystemExit(3)
        pages = mmap.mmap(-1, size, flags=flags, prot=mmap.PROT_READ)
        for place in range(0, size, 2 << 20): pages[place]
        time.sleep(600)
        """
      let told = try reason("cat > p.py <<'END'\n\(script)\nEND\nexec /usr/bin/python3 p.py")
      #expect(told.contains("bytes of memory that it may"), "\(told)")
    }

    @Test("One that fills the disk is ended, by one file or by many")
    func disk() throws {
      #expect(try !reason("yes > big; exit 1").isEmpty)
      let many = "i=0; while :; do yes | head -c 65536 > f$i; i=$((i+1)); done"
      #expect(try reason(many).contains("bytes of files"))
    }

    @Test("One that leaves its session, its folder or its sandbox is kept from it")
    func escapes() throws {
      let script = """
        setsid true 2>/dev/null && echo left the session
        touch ../outside 2>/dev/null && echo wrote beside
        touch /tmp/roost-escape-$$ 2>/dev/null && echo wrote to tmp
        ls .. >/dev/null 2>&1 && echo listed the other jobs
        cat ../../served-jobs.db >/dev/null 2>&1 && echo read the ledger
        cat ../../../signer/keys/* >/dev/null 2>&1 && echo read the keys
        cat /etc/passwd >/dev/null 2>&1 && echo read passwd
        kill -KILL -1 2>/dev/null && echo killed everybody
        python3 -c 'import socket; socket.socket(socket.AF_INET)' 2>/dev/null && echo has the network
        env | grep -v -E '^(PATH|HOME|TMPDIR|LANG|PWD|_|SHLVL|OLDPWD|ROOST_INSTANCE|ROOST_WORKER|MODEL)=' | sed 's/^/env /'
        for n in 4 5 6 7 8 9; do ( : <&$n ) 2>/dev/null && echo descriptor $n; done
        touch inside && echo "$MODEL $(pwd)" | grep -q 'small .*/jobs/' && echo fine
        """
      try ServingRig.run(script: script, ["environment": "[\"MODEL=small\"]", "time": "\"20s\""]) { rig in
        let result = try rig.awaitResult(rig.ask())
        #expect(result.content.text == "fine")
      }
    }

    @Test("A program that is not there is told as one that cannot be run, and where it should be is not")
    func missing() throws {
      let jobs = [Int(ServingRig.kind): ["program": "[\"/no/such/program\"]"]]
      try ServingRig.run(ServingRig.layout(jobs: jobs)) { rig in
        let reason = try rig.awaitError(rig.ask())
        #expect(reason == "the program of this job cannot be run at present")
      }
    }

    @Test("What is not UTF-8 is no result")
    func binary() throws { #expect(try reason("printf '\\377\\376'").contains("not UTF-8")) }

    @Test("What a program reads besides is what its table names")
    func reads() throws {
      let folder = try TemporaryDirectory()
      let file = open(folder.path + "/model", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
      try Descriptors.writeAll("weights", to: file)
      Descriptors.close(file)
      let script = "cat \(folder.path)/model"
      try ServingRig.run(script: script, ["read": "[\"\(folder.path)\"]"]) { rig in
        let result = try rig.awaitResult(rig.ask())
        #expect(result.content.text == "weights")
      }
      try ServingRig.run(script: script) { rig in
        let reason = try rig.awaitError(rig.ask())
        #expect(reason.contains("with code 1"))
      }
    }
  }
}

extension ServingRig {
  /// Living processes of jobs: those of the provider's environment that are not the provider.
  var jobProcesses: [ProcessEntry] {
    let pid = try? roost.worker("dvm-provider", client).pid
    return ProcessTable.entries().filter {
      $0.state != .ended && $0.process != pid.map { Int32($0) }
        && ProcessTable.environment(of: $0.process, holds: "ROOST_WORKER=dvm-provider") == true
        && ProcessTable.descends($0.process, from: roost.daemon.pid)
    }
  }

  /// Folders of programs that were not removed.
  var leftFolders: [String] {
    guard let folder = opendir(roost.path("state/dvm-provider/jobs")) else { return [] }
    defer { closedir(folder) }
    var names: [String] = []
    while let entry = readdir(folder) {
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
      if !name.hasPrefix(".") { names.append(name) }
    }
    return names
  }
}
