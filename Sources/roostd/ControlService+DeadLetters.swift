import Contracts
import EventLoop
import Frames
import LinuxSystem
import LogKeeping
import MessageHub

extension ControlService {
  /// A dead letter that is being tried again, and who asked for it.
  struct Retry {
    let call: HubCall
    let letter: String
  }

  func deadLetters(_ call: HubCall, _ request: DeadLettersRequest) {
    EventLoopActor.task { [self] in
      do throws(Refusal) {
        switch request.action {
        case "list": reply(call, fitting(try await listing(), for: call))
        case "show": reply(call, fitting(try await letter(request), for: call))
        case "drop": try await drop(call, request)
        case "retry": try await retry(call, request)
        default:
          throw Refusal(
            .badRequest, "'action' is list, show, retry or drop, not '\(request.action)'", outcome: .notStarted)
        }
      } catch {
        refuse(call, error)
      }
    }
  }

  private func listing() async throws(Refusal) -> [DeadLetterRecord] {
    do throws(SystemFault) { return try await daemon.deadLetters.list().letters } catch {
      throw Refusal(.failed, "\(error)", outcome: .notStarted)
    }
  }

  private func letter(_ request: DeadLettersRequest) async throws(Refusal) -> DeadLetterRecord {
    guard let id = request.id else {
      throw Refusal(.badRequest, "'id' is missing: which dead letter?", outcome: .notStarted)
    }
    do throws(SystemFault) { return try await daemon.deadLetters.load(id) } catch {
      throw Refusal(.badRequest, "dead letter '\(id)': \(error)", outcome: .notStarted)
    }
  }

  private func drop(_ call: HubCall, _ request: DeadLettersRequest) async throws(Refusal) {
    let dropped = request.id == "all" ? try await listing() : [try await letter(request)]
    do throws(SystemFault) {
      if request.id == "all" {
        _ = try await daemon.deadLetters.dropAll()
      } else {
        try await daemon.deadLetters.drop(request.id ?? "")
      }
    } catch {
      throw Refusal(.badRequest, "dead letter '\(request.id ?? "")': \(error)", outcome: .unknown)
    }
    await daemon.countDeadLetters()
    let what = request.id == "all" ? "All dead letters are" : "Dead letter \(request.id ?? "") is"
    // Without payloads, which are gone as well, and may be longer than any frame.
    let letters = dropped.map { letter in
      var letter = letter
      letter.payload = ""
      return letter
    }
    reply(call, DeadLettersResult(letters: fitting(letters, for: call).letters, sentence: "\(what) gone."))
  }

  /// Delivers the letter once more, alone like any message; it is dropped when it is answered at last.
  private func retry(_ call: HubCall, _ request: DeadLettersRequest) async throws(Refusal) {
    let letter = try await letter(request)
    guard let entry = daemon.shell.hub.table[letter.method] else {
      throw Refusal(.unknownMethod, "nobody serves \(letter.method) any more", outcome: .notStarted)
    }
    guard let payload = letter.payloadBytes else {
      throw Refusal(.failed, "the payload of \(letter.id) cannot be read", outcome: .notStarted)
    }
    var refusal: Refusal?
    daemon.shell.change { hub, actions in
      do throws(Refusal) {
        let id = try hub.inject(
          method: entry.number, payload: payload, isRaw: letter.isRaw, now: EventLoop.process.now, actions: &actions)
        retries[id] = Retry(call: call, letter: letter.id)
      } catch {
        refusal = error
      }
    }
    if let refusal { throw refusal }
  }

  /// What a tried letter came to.
  func injectedAnswer(_ id: UInt64, _ header: FrameHeader, _ payload: [UInt8]) {
    guard let retry = retries.removeValue(forKey: id) else { return }
    guard header.type == .response else {
      let refusal = (try? JSONPayload.decode(Refusal.self, from: payload)) ?? Refusal(.failed, "refused")  // Our own.
      refuse(retry.call, refusal)
      return
    }
    EventLoopActor.task { [self] in
      // It was answered: if its file cannot be removed, the list still shows it, which does no harm.
      do throws(SystemFault) { try await daemon.deadLetters.drop(retry.letter) } catch {
        daemon.log(.warning, "hub", "dead letter \(retry.letter) was answered but not removed: \(error)")
      }
      await daemon.countDeadLetters()
      let sentence = "Dead letter \(retry.letter) was delivered and answered; it is gone from the list."
      reply(retry.call, DeadLettersResult(letters: [], sentence: sentence))
    }
  }
}

extension DeadLetterRecord {
  /// The record of a quarantined message; the store gives it its id and time.
  init(_ letter: DeadLetter, method: String) {
    let text = String(validating: letter.payload, as: UTF8.self)
    self.init(
      id: "", time: WallTime.now.text, worker: letter.worker, method: method, sender: letter.sender,
      deliveries: letter.deliveries, trace: String(letter.header.trace, radix: 16),
      isRaw: letter.header.flags.contains(.raw), payload: text ?? Base64.encode(letter.payload), isBase64: text == nil)
  }

  /// The payload as it travelled; nil when its base64 is damaged.
  var payloadBytes: [UInt8]? { isBase64 ? Base64.decode(payload) : Array(payload.utf8) }
}
