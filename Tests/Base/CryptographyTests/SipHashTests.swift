import Cryptography
import Testing

@Suite struct SipHashTests {
  @Test("The reference's vectors: key 00…0f, input 00 01 02 … of growing length")
  func vectors() {
    let hash = SipHash(key: 0x0706_0504_0302_0100, 0x0F0E_0D0C_0B0A_0908)
    let expected: [Int: UInt64] = [
      0: 0x726F_DB47_DD0E_0E31, 1: 0x74F8_39C5_93DC_67FD, 7: 0xAB02_00F5_8B01_D137, 8: 0x93F5_F579_9A93_2462,
      15: 0xA129_CA61_49BE_45E5, 63: 0x958A_324C_EB06_4572,
    ]
    for (count, number) in expected {
      #expect(hash.hash((0..<count).map { UInt8($0) }) == number, "\(count) bytes")
    }
  }
}
