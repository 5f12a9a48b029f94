import JobProviding
import UserPrograms

extension ServingOutcome {
  /// What a program's run means for the customer.
  init(_ outcome: ProgramOutcome) {
    switch outcome {
    case .failed(let reason): self = .failed(reason)
    case .done(var output):
      // Most programs end their last line; that line end is not part of the result.
      if output.last == UInt8(ascii: "\n") { output.removeLast() }
      guard let text = String(validating: output, as: UTF8.self) else {
        self = .failed("what the program wrote is not UTF-8")
        return
      }
      // An empty answer is useless to a customer, and looks like one that was lost.
      self = text.allSatisfy(\.isWhitespace) ? .failed("the program has written nothing") : .done(text)
    }
  }
}
