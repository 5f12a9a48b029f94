import Contracts
import EventLoop
import Frames
import KeyStore
import Logging
import Signing
import WorkerKit

// Problems with key files and credentials. The files are checked again at each request for the accounts. Otherwise a
// changed mode, a copy or a missing file would be noticed only at the next start, when it is too late.

/// A file that is refused, or has another problem.
struct KeyProblem: Hashable {
  /// The problem and the remedy: a sentence with the file's path.
  let sentence: String
  /// The file's name and a few words, for a line with several problems.
  let brief: String
  /// The key that is no account because of this; nil when no account is missing.
  var refused: SignerRefusedKey?

  init(sentence: String, brief: String, refused: SignerRefusedKey? = nil) {
    self.sentence = sentence
    self.brief = brief
    self.refused = refused
  }

  /// - Parameter remark: text to append to the sentence.
  init(_ fault: KeyStoreFault, remark: String = "", refused: SignerRefusedKey? = nil) {
    let file = fault.path.split(separator: "/").last ?? ""
    var sentence = fault.description
    if case .system = fault { sentence += "; \(fault.remedy)" }
    self.init(sentence: sentence + remark, brief: "\(file): \(fault.reason)", refused: refused)
  }
}

extension SignerService {
  /// All present problems.
  var problems: [KeyProblem] { fileProblems + credentialProblems }

  /// Checks the key files again. While a key is being made or changed, the state of the files means nothing, and the
  /// check is skipped.
  func lookAtFiles() async {
    let before = keyChangeCount
    guard !isHandlingKeys else { return }
    let result = await EventLoopActor.onThreadPool { [directory] in
      Result { () throws(KeyStoreFault) in try directory.look() }
    }
    guard !isHandlingKeys, keyChangeCount == before else { return }
    switch result {
    case .success(let contents): judged(contents)
    case .failure(let fault): fileProblems = [KeyProblem(fault)]
    }
    machine.refusedKeys = problems.compactMap(\.refused)
    tellStatus()
  }

  /// Compares the files with the accounts, and logs new problems.
  func judged(_ contents: KeyDirectory.Contents) {
    let known = Set(fileProblems)
    fileProblems = contents.problems.map { fault in
      let name = Self.accountName(ofFile: fault.path)
      guard accounts[name]?.origin != .file else {
        return KeyProblem(fault, remark: ". Until the signer ends, the account continues with what was read")
      }
      return KeyProblem(
        fault, refused: fault.path.hasSuffix(".key") ? refused(name, fault.reason, fault.remedy) : nil)
    }
    fileProblems += contents.keys.compactMap { problem(of: $0) }
    let names = Set(contents.keys.map(\.name) + contents.problems.map { Self.accountName(ofFile: $0.path) })
    for (name, account) in accounts.sorted(by: { $0.key < $1.key })
    where account.origin == .file && !names.contains(name) {
      let sentence = "\(path(ofAccount: name)) is gone: with this process the account ends; put the file back"
      fileProblems.append(KeyProblem(sentence: sentence, brief: "\(name).key: gone"))
    }
    for problem in fileProblems where !known.contains(problem) { log(problem) }
    machine.refusedKeys = problems.compactMap(\.refused)
  }

  /// A key file that is not used as an account.
  private func refused(_ name: String, _ reason: String, _ remedy: String) -> SignerRefusedKey {
    SignerRefusedKey(account: name, place: "a key file \(name).key", reason: reason, remedy: remedy)
  }

  /// Why no key can be made under this name: an unused key file has it. Nil when no file has it.
  func refusalOfFile(_ name: String) -> Refusal? {
    machine.refusedKeys.first(named: name).map { refused in
      Refusal(.nameTaken, "\(refused.sentence); nothing is written over it", outcome: .notStarted)
    }
  }

  /// Why a readable file is not used as an account; nil when it is used.
  private func problem(of key: StoredKey) -> KeyProblem? {
    let present = accounts[key.name]
    if let present, present.origin == .file, present.stored.publicKey == key.publicKey { return nil }
    var reason = "it came after the signer's start"
    var remedy = "'roost restart \(worker.name)' reads it"
    if present?.stored.publicKey == key.publicKey {
      reason = "there is an account of this name already, as a credential of the service manager's"
      remedy = "move it to another directory, or take the credential away"
    } else if let refusal = machine.refusalOfNew(key.name, key.publicKey) {
      reason = refusal.message
      remedy = "move it to another directory, or give it another name"
    }
    return KeyProblem(
      sentence: "\(path(ofAccount: key.name)) is not used: \(reason); \(remedy)", brief: "\(key.name).key: \(reason)",
      refused: present?.stored.publicKey == key.publicKey ? nil : refused(key.name, reason, remedy))
  }

  private func path(ofAccount name: String) -> String { "\(directory.path)/\(name).key" }

  private static func accountName(ofFile path: String) -> String {
    let file = path.split(separator: "/").last ?? ""
    return String(file.hasSuffix(".key") ? file.dropLast(4) : file)
  }

  /// Records a problem with a credential.
  func note(credential problem: KeyProblem) {
    credentialProblems.append(problem)
    machine.refusedKeys = problems.compactMap(\.refused)
    log(problem)
  }

  private func log(_ problem: KeyProblem) {
    log.error("a key is not used", metadata: ["why": "\(problem.sentence)"])
  }

  /// `, refused: alice.key: others may read or change it (mode 644)`; empty when there is no problem.
  var problemSummary: String {
    guard !problems.isEmpty else { return "" }
    let shown = problems.prefix(Self.shownProblemMaximum).map(\.brief).joined(separator: ", ")
    let rest = problems.count - Self.shownProblemMaximum
    return ", refused: " + shown + (rest > 0 ? " and \(rest) more" : "") + " ('roost doctor' says what to do)"
  }

  /// Most problems in the line of `roost status`.
  private static let shownProblemMaximum = 3
}
