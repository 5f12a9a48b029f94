// Fuzz entry for invoices (BOLT-11), which strangers put beside their amounts. `Scripts/fuzz.sh` builds and runs it.
//
// libraries: crypto sodium secp256k1 utf8proc
// corpus: bolt11
//
// A checksum and a signature stand before everything worth trying, and no fuzzer guesses one. So of an input whose
// first byte is not 0 the rest is a prefix without its `ln`, a zero, and five-bit values, which are signed and given
// their checksum here; otherwise it is a text as it came. What is read is in its bounds, and the same when read again.
import Cryptography

@testable import Nostr

private let key: SecretKey = {
  let key = [UInt8](repeating: 5, count: 32).withUnsafeBytes { SecretKey(bytes: $0) }
  guard let key else { preconditionFailure("this is a key") }
  return key
}()

/// libFuzzer calls this for each input; a failed precondition is a finding.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzBOLT11(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  let bytes = [UInt8](UnsafeRawBufferPointer(start: start, count: count))
  guard let first = bytes.first else { return 0 }
  if first == 0 {
    check(String(decoding: bytes.dropFirst(), as: UTF8.self))
  } else {
    let name = bytes.dropFirst().prefix { $0 != 0 }
    guard name.count < 80, name.allSatisfy({ (33...126).contains($0) && !(0x41...0x5A).contains($0) }) else { return 0 }
    let prefix = "ln" + String(decoding: name, as: UTF8.self)
    var values = bytes.dropFirst(2 + name.count).map { $0 & 31 }
    let signature = key.signRecoverably(InvoiceReader.digest(prefix: prefix, values: values[...]))
    values += fiveBitValues(of: signature.bytes)
    check(Bech32.encode(hrp: prefix, values: values))
  }
  return 0
}

/// 65 bytes are 104 values, without anything left over.
private func fiveBitValues(of bytes: [UInt8]) -> [UInt8] {
  var bits: [UInt8] = []
  for byte in bytes { for place in 0..<8 { bits.append(byte >> UInt8(7 - place) & 1) } }
  return stride(from: 0, to: bits.count, by: 5).map { start in bits[start..<(start + 5)].reduce(0) { $0 << 1 | $1 } }
}

private func check(_ text: String) {
  do throws(InvoiceFault) {
    let invoice = try Invoice(text)
    precondition(invoice.text.utf8.count <= Invoice.characterCountMaximum, "an invoice is bounded")
    if let amount = invoice.amountMillisatoshis {
      precondition((1...JobAmount.millisatoshisMaximum).contains(amount), "an amount is bounded")
    }
    precondition(invoice.expiresAt >= invoice.createdAt, "an invoice ends after it was made")
    precondition(invoice.isExpired(at: invoice.expiresAt), "an invoice ends")
    precondition(invoice.features == Set(invoice.features).sorted(), "features stand in order, each once")
    precondition(invoice.routes.allSatisfy { !$0.isEmpty }, "a way has a channel")
    _ = invoice.obstacle(at: invoice.createdAt)?.description
    do throws(InvoiceFault) {
      let again = try Invoice(invoice.text.uppercased())
      precondition(again == invoice && again.payee == invoice.payee, "an invoice is read as it was")
    } catch {
      preconditionFailure("what was read is refused: \(error)")
    }
  } catch {
    precondition(!error.description.isEmpty, "a fault says what it is")
  }
}
