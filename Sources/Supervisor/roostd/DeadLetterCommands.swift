import Contracts
import FoundationEssentials
import EventLoop
import Frames
import Glibc
import LinuxSystem
import Logs
import MessageHub

/// `supervisor.dead-letters`: lists, shows, drops and retries dead letters.
@EventLoopActor
final class DeadLetterCommands {
  private unowned let control: ControlService
  private var retries: [UInt64: Retry] = [:]

  init(_ control: ControlService) { self.control = control }

  private var daemon: Daemon { control.daemon }

  /// A dead letter that is being tried again, and the call that asked for it.
  private struct Retry {
    let call: HubCall
    let letter: String
    /// The letter's method, by name.
    let method: String
    var death: Death?
  }

  /// A death of which a letter that was tried again is the cause.
  struct Death {
    /// The worker that died.
    let worker: String
    /// Deliveries of the letter with this one.
    let deliveries: UInt16
  }

  func perform(_ call: HubCall, _ request: DeadLettersRequest) {
    EventLoopActor.task { [self] in
      do throws(Refusal) {
        switch request.action {
        case "list": control.reply(call, control.fitting(try await listing(), for: call))
        case "show": control.reply(call, control.fitting(try await letter(request), for: call))
        case "drop": try await drop(call, request)
        case "retry": try await retry(call, request)
        default:
          throw Refusal(
            .badRequest, "'action' is list, show, retry or drop, not '\(request.action)'", outcome: .notStarted)
        }
      } catch {
        control.refuse(call, error)
      }
    }
  }

  private func listing() async throws(Refusal) -> [DeadLetterRecord] {
    do throws(SystemFault) { return try await daemon.deadLetters.store.list().letters } catch {
      throw Refusal(.failed, "\(error)", outcome: .notStarted)
    }
  }

  private func letter(_ request: DeadLettersRequest) async throws(Refusal) -> DeadLetterRecord {
    guard let id = request.id else {
      throw Refusal(.badRequest, "'id' is missing: which dead letter?", outcome: .notStarted)
    }
    do throws(SystemFault) { return try await daemon.deadLetters.store.load(id) } catch {
      throw Self.refusal(of: id, error, .notStarted)
    }
  }

  private static func refusal(of id: String, _ fault: SystemFault, _ outcome: Outcome) -> Refusal {
    let isMissing = fault.code == ENOENT
    let text = isMissing ? "there is no dead letter '\(id)'" : "dead letter '\(id)': \(fault)"
    return Refusal(.badRequest, text, outcome: isMissing ? .notStarted : outcome)
  }

  private func drop(_ call: HubCall, _ request: DeadLettersRequest) async throws(Refusal) {
    let dropped = request.id == "all" ? try await listing() : [try await letter(request)]
    do throws(SystemFault) {
      if request.id == "all" {
        _ = try await daemon.deadLetters.store.dropAll()
      } else {
        try await daemon.deadLetters.store.drop(request.id ?? "")
      }
    } catch {
      throw Self.refusal(of: request.id ?? "", error, .unknown)
    }
    await daemon.deadLetters.recount()
    let what = request.id == "all" ? "All dead letters are" : "Dead letter \(request.id ?? "") is"
    // Without payloads, which are gone as well, and may be longer than any frame.
    let letters = dropped.map { letter in
      var letter = letter
      letter.payload = ""
      return letter
    }
    control.reply(
      call, DeadLettersResult(letters: control.fitting(letters, for: call).letters, sentence: "\(what) gone."))
  }

  /// Delivers the letter once more: answered, it is dropped; if it kills again, it is the same letter still.
  private func retry(_ call: HubCall, _ request: DeadLettersRequest) async throws(Refusal) {
    let letter = try await letter(request)
    guard let entry = daemon.shell.table[letter.method] else {
      throw Refusal(.unknownMethod, "no worker serves \(letter.method) any longer", outcome: .notStarted)
    }
    guard let payload = letter.payloadBytes else {
      throw Refusal(.failed, "the payload of \(letter.id) cannot be read", outcome: .notStarted)
    }
    guard !retries.values.contains(where: { $0.letter == letter.id }) else {
      throw Refusal(.badRequest, "dead letter '\(letter.id)' is being tried again already", outcome: .notStarted)
    }
    try daemon.shell.change { hub, now, actions throws(Refusal) in
      let id = try hub.redeliver(
        method: entry.number, payload: payload, isRaw: letter.isRaw, deaths: letter.deliveries, now: now,
        actions: &actions)
      retries[id] = Retry(call: call, letter: letter.id, method: letter.method)
    }
  }

  /// The caller that wanted a letter tried again has left: if it waits for its worker still, it is not.
  func cancelled(_ call: HubCall) {
    guard let id = retries.first(where: { $0.value.call == call })?.key else { return }
    daemon.shell.change { hub, now, actions in hub.withdraw(id, now: now, actions: &actions) }
  }

  /// A tried letter has killed its worker once more; its end comes next.
  func diedAgain(_ id: UInt64, _ death: Death) {
    guard let retry = retries[id] else { return }
    retries[id]?.death = death
    let worker = daemon.worker(named: death.worker)
    worker?.charge(method: retry.method, deaths: 1)
    worker?.deathCharge?.whereabouts = DeathCharge.whereabouts(ofLetter: retry.letter)
  }

  /// What a tried letter came to.
  func injectedAnswer(_ id: UInt64, _ header: FrameHeader, _ payload: [UInt8]) {
    guard let retry = retries.removeValue(forKey: id) else { return }
    if header.type == .response {
      EventLoopActor.task { [self] in await answered(retry, payload) }
      return
    }
    // The hub's own words, or the worker's: those may be any.
    let refusal = (try? JSONPayload.decode(Refusal.self, from: payload)) ?? Refusal(.failed, "refused")
    guard let death = retry.death else {
      control.refuse(retry.call, refusal)
      return
    }
    EventLoopActor.task { [self] in
      await daemon.deadLetters.keepAgain(retry.letter, death)
      control.refuse(retry.call, refusal)
    }
  }

  private func answered(_ retry: Retry, _ payload: [UInt8]) async {
    // If its file cannot be removed, the list still shows it, which does no harm.
    do throws(SystemFault) { try await daemon.deadLetters.store.drop(retry.letter) } catch {
      daemon.log(.warning, "hub", "dead letter \(retry.letter) was answered but not removed: \(error)")
    }
    await daemon.deadLetters.recount()
    daemon.log(.notice, "hub", "dead letter \(retry.letter) was tried again and answered")
    let sentence = "Dead letter \(retry.letter) was delivered and answered; it is gone from the list."
    control.reply(
      retry.call, control.fitting(DeadLettersResult(letters: [], sentence: sentence), answer: payload, for: retry.call))
  }
}

extension DeadLetterRecord {
  /// The record of a quarantined message; the store gives it its id and time.
  init(_ letter: DeadLetter, method: String) {
    let text = String(validating: letter.payload, as: UTF8.self)
    self.init(
      id: "", time: WallTime.now.text, worker: letter.worker, method: method, sender: letter.sender,
      deliveries: letter.deliveries, trace: String(letter.header.trace, radix: 16),
      isRaw: letter.header.flags.contains(.raw), payload: text ?? Data(letter.payload).base64EncodedString(),
      isBase64: text == nil)
  }

  /// The payload as it travelled; nil when its base64 is damaged.
  var payloadBytes: [UInt8]? { isBase64 ? Data(base64Encoded: payload).map(Array.init) : Array(payload.utf8) }
}
