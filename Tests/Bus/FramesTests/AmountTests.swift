import Frames
import Testing

@Suite("Amounts for people") struct AmountTests {
  @Test(
    "Millisatoshi are told as satoshi, with no more decimals than they have",
    arguments: [
      (0, "0 sat"), (1, "0.001 sat"), (50, "0.05 sat"), (21_000, "21 sat"), (1_500, "1.5 sat"), (1_010, "1.01 sat"),
      (-1_001, "-1.001 sat"), (.max, "9223372036854775.807 sat"), (.min, "-9223372036854775.808 sat"),
    ] as [(Int64, String)])
  func satoshis(amount: Int64, text: String) { #expect(Amount.satoshis(amount) == text) }
}
