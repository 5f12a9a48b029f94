import Nostr
import TestSupport
import Testing

/// Requests, results, feedback and zaps that were published by real programs, from repositories whose licences allow
/// it. Their counts are exact: a reader that begins to see something else in them says so here.
@Suite("Real events of jobs and zaps") struct NIP90RealEventTests {
  private let events: [Event]

  init() throws {
    let path = SharedFolder.repository + "/Tests/Base/NostrTests/RealEvents/jobs-and-zaps.jsonl"
    let bytes = try #require(SharedFolder.bytes(ofFile: path))
    events = try bytes.split(separator: UInt8(ascii: "\n")).map { try Event(json: Array($0)) }
  }

  @Test("are whole and signed")
  func signed() throws {
    for event in events { try event.verify() }
    #expect(events.count == 216)
  }

  @Test("that ask for jobs are all read, with what is unusual counted")
  func requests() throws {
    var diagnostics = JobDiagnostics()
    let requests = try events.filter { EventKind.jobRequests.contains($0.kind) }.map { try JobRequest($0) }
    for request in requests { diagnostics.add(request.diagnostics) }
    #expect(requests.count == 78 && requests.count { $0.terms.isEncrypted } == 14)
    #expect(
      diagnostics.counts == [
        .badRelay: 3, .tagNamedByRelay: 1, .inputWithoutType: 2, .encryptedTagMissing: 5, .encryptedForOthers: 3,
        .clearBesideEncrypted: 1,
      ])
  }

  @Test("that answer are read or dropped, with what is unusual counted")
  func answers() throws {
    var diagnostics = JobDiagnostics()
    var verdicts: [String: Int] = [:]
    var (resultCount, feedbackCount, encryptedCount) = (0, 0, 0)
    var statuses: [JobStatus: Int] = [:]
    for event in events {
      do throws(JobFault) {
        if EventKind.jobResults.contains(event.kind) {
          let result = try JobResult(event)
          diagnostics.add(result.answer.diagnostics)
          resultCount += 1
          if result.content.ciphertext != nil { encryptedCount += 1 }
          switch result.schemaVerdict {
          case .holds: verdicts["holds", default: 0] += 1
          case .broken: verdicts["broken \(event.kind)", default: 0] += 1
          case .unknown: verdicts["unknown", default: 0] += 1
          }
        } else if event.kind == EventKind.jobFeedback {
          let feedback = try JobFeedback(event)
          diagnostics.add(feedback.answer.diagnostics)
          feedbackCount += 1
          if feedback.content.ciphertext != nil { encryptedCount += 1 }
          if let status = feedback.status { statuses[status, default: 0] += 1 }
        }
      } catch {
        if let diagnostic = error.diagnostic { diagnostics.note(diagnostic) }
      }
    }
    #expect(resultCount == 45 && feedbackCount == 28 && encryptedCount == 12)
    #expect(statuses == [.paymentRequired: 6, .processing: 7, .error: 3, .success: 5, .partial: 1])
    #expect(verdicts == ["holds": 27, "unknown": 18])
    #expect(
      diagnostics.counts == [
        .answerToNothing: 16, .statusOnResult: 24, .requestIsNoEvent: 2, .requestHasWrongID: 2, .customerMissing: 2,
        .badRelay: 1, .groupedAmount: 3, .amountWithoutInvoice: 3, .amountContradictsInvoice: 1,
      ])
  }

  @Test("that answer what is asked beside them contradict nothing")
  func pairs() throws {
    var requests: [EventID: JobRequest] = [:]
    for event in events where EventKind.jobRequests.contains(event.kind) {
      requests[event.id] = try JobRequest(event)
    }
    var pairCount = 0
    for event in events where EventKind.jobResults.contains(event.kind) {
      guard let answer = (try? JobResult(event))?.answer, let request = requests[answer.requestID] else { continue }
      #expect(answer.contradictions(to: request) == [], "\(event.id)")
      pairCount += 1
    }
    #expect(pairCount == 40)
  }

  @Test("of zaps are read, and refused for a reason each")
  func zaps() throws {
    var faults: [String: Int] = [:]
    var (requestCount, receiptCount, goodCount) = (0, 0, 0)
    for event in events {
      do throws(ZapFault) {
        if event.kind == EventKind.zapRequest {
          _ = try ZapRequest(event)
          requestCount += 1
        } else if event.kind == EventKind.zapReceipt {
          let receipt = try ZapReceipt(event)
          receiptCount += 1
          try receipt.check(wallet: event.pubkey)
          goodCount += 1
        }
      } catch {
        faults["\(event.kind): \(error)", default: 0] += 1
      }
    }
    #expect(requestCount == 27 && receiptCount == 16 && goodCount == 12)
    // One wallet writes receipts for transfers within its own books, with an invoice that nobody could pay.
    #expect(
      faults == [
        "9735: the zap receipt's invoice cannot be used: it has no hash of the payment": 6,
        "9735: the invoice was made for something else than the zap request": 4,
      ])
  }
}
