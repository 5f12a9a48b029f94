import Glibc
import Testing

/// A datagram socket bound to a path, or to an abstract name that begins with `@`.
func datagramListener(_ address: String) -> Int32 {
  let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
  var name = sockaddr_un()
  name.sun_family = sa_family_t(AF_UNIX)
  withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: address.utf8) }
  if address.hasPrefix("@") { name.sun_path.0 = 0 }
  let length = MemoryLayout<sa_family_t>.size + address.utf8.count + (address.hasPrefix("@") ? 0 : 1)
  let result = withUnsafePointer(to: &name) { pointer in
    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, socklen_t(length)) }
  }
  #expect(result == 0)
  return descriptor
}
