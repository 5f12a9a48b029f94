internal import Nostr
internal import Wording

// The oddities in messages about a job, in words. Their names are in counters and in JSON and do not change, but a
// reader at a terminal need not know them. docs/workers/dvm-tracker.md has the same in a table.

/// The meaning of the names under which jobs count oddities.
public enum JobDiagnosticText {
  /// The meaning of a name, as the beginning of a sentence; nil for a name that is not known here.
  public static func words(_ name: String) -> String? {
    if let diagnostic = JobDiagnostic(rawValue: name) { return words(diagnostic) }
    return tracking[name]
  }

  /// `a result of another kind than was asked for (of-another-kind), 3 times`
  static func line(_ name: String, count: Int) -> String {
    let told = words(name).map { "\($0) (\(name))" } ?? VisibleText.make(name)
    return count == 1 ? told : "\(told), \(count) times"
  }

  /// Oddities of answers: why an answer is ignored, or what happened to it.
  private static let tracking = [
    "not-asked": "the answer is by a provider that was not asked",
    "of-another-request": "an answer repeats another request than it names",
    "of-another-kind": "a result of another kind than was asked for",
    "for-another-customer": "an answer is addressed to another customer",
    "not-of-its-kinds-form": "a result has not the form that results of its kind have",
    "cannot-be-decrypted": "an encrypted answer cannot be decrypted",
    "in-clear": "a result in clear, to a request that was encrypted",
    "after-the-end": "an answer or a receipt came after the job had ended",
    "not-kept": "an answer or a receipt was one too many, and was not kept",
    "differs-from-the-result": "another provider's result differs from the one taken",
    "receipt-of-unknown-wallet": "the author of a zap receipt is not known",
    "receipt-of-another-wallet": "a zap receipt is not by the wallet that was named",
    "receipt-cannot-be-read": "a zap receipt is invalid: it has no invoice, or no signed request",
    "receipt-of-another-request": "a zap receipt is for another zap",
    "receipt-of-another-amount": "a zap receipt's invoice is of another amount",
    "receipt-of-another-invoice": "a zap receipt's invoice was not made for this zap",
    "receipt-with-wrong-preimage": "a zap receipt's preimage is not that of its invoice",
    "receipt-of-another-network": "a zap receipt's invoice is of another network",
    "receipt-of-another-payment": "a zap receipt's payment proves another job's, or another provider's",
  ]

  // The list is exhaustive: a new diagnostic needs its words.
  private static func words(_ diagnostic: JobDiagnostic) -> String {
    switch diagnostic {
    case .tagNamedByRelay: "a tag is named by a relay's address; it was taken as relays"
    case .tagWithoutValue: "a tag without its value was left out"
    case .beyondLimit: "something too long, or one too many, was left out"
    case .badRelay: "an invalid relay address was left out"
    case .badKey: "an invalid key was left out"
    case .badEventID: "an invalid event id was left out"
    case .inputWithoutType: "an input has no type"
    case .inputOfUnknownType: "an input has an unknown type"
    case .inputIsNoEventID: "an input should be an event id, and is not"
    case .parameterWithoutValue: "a parameter has a name only"
    case .groupedAmount: "an amount is written in groups, such as 100_000"
    case .badAmount: "an amount is no number"
    case .amountWithoutInvoice: "the text after the amount is not an invoice"
    case .brokenInvoice: "the invoice is cut, mistyped, or not signed by who it says"
    case .amountContradictsInvoice: "the invoice and the amount before it differ"
    case .amountInSatoshis: "the amount is in satoshi, where millisatoshi belong"
    case .statusMissing: "an answer does not say its status"
    case .statusMisspelled: "a status is spelled in an unusual way"
    case .unknownStatus: "a status is unknown"
    case .statusOnResult: "a result says a status, as only feedback does"
    case .answerToNothing: "an answer names no request"
    case .requestWithoutEventTag: "an answer names its request in the tag 'request' alone"
    case .requestIsNoEvent: "the request that an answer repeats is no event"
    case .requestHasWrongID: "the request that an answer repeats has a wrong id"
    case .requestContradictsEventTag: "an answer repeats another request than it names"
    case .requestContradictsKind: "a result is of another kind than the request that it repeats"
    case .requestContradictsCustomer: "an answer and the request that it repeats are for different customers"
    case .customerMissing: "an answer does not say for whom it is"
    case .encryptedTagMissing: "an answer is encrypted, and does not say so"
    case .encryptedTagWithoutCiphertext: "an answer says that it is encrypted, and is not"
    case .encryptedForOthers: "an encrypted request is not for exactly one provider"
    case .clearBesideEncrypted: "inputs stand in clear beside encrypted ones"
    case .otherTagsEncrypted: "tags are encrypted that belong in clear"
    case .decryptedIsNoTagList: "what was decrypted is no list of tags"
    case .decryptedIsTagList: "what was decrypted is a list of tags, with the answer in one of them"
    }
  }
}
