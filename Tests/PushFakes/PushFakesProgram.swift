// APNs, FCM with its token endpoint, and a Web Push service with its browsers, on ports of loopback.
//
//     push-fakes CERTIFICATE.pem [APNS-PORT FCM-PORT OAUTH-PORT WEBPUSH-PORT CONTROL-PORT]
//
// CERTIFICATE.pem is a certificate for localhost and 127.0.0.1 with its key behind it. One line of JSON on standard
// output says where everything is and carries the keys that a sender needs; all of them are made for this run. The
// program ends when its standard input does.
import Cryptography
import Frames
import Glibc
import NIOCore
import NIOPosix
import NIOSSL

/// Wall time, milliseconds since 1970.
func wallMilliseconds() -> Int64 {
  var time = timespec()
  clock_gettime(CLOCK_REALTIME, &time)
  return Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000
}

@main
enum PushFakesProgram {
  private static let usage =
    "usage: push-fakes CERTIFICATE.pem [APNS-PORT FCM-PORT OAUTH-PORT WEBPUSH-PORT CONTROL-PORT]"

  static func main() throws {
    let arguments = Array(CommandLine.arguments.dropFirst())
    let wanted = arguments.dropFirst().compactMap { UInt16($0).map(Int.init) }
    if arguments.contains(where: { ["--help", "-h"].contains($0) }) {
      print(usage)
      exit(0)
    }
    guard let certificate = arguments.first, wanted.count == arguments.count - 1, wanted.count <= 5 else {
      print(usage)
      exit(2)
    }
    let ports = wanted + Array(repeating: 0, count: 5 - wanted.count)
    let tls: NIOSSLContext
    do { tls = try FakeServer.context(certificate: certificate) } catch {
      print("push-fakes: \(certificate) holds no certificate with its key in PEM, or cannot be read")
      exit(1)
    }
    let loop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()
    let account = RSASecretKey.generate(bitCount: 2_048)
    let provider = P256SecretKey.generate()
    let greeting = try loop.submit { [loop] in
      NIOLoopBound(Self.world(provider.publicKey, account.publicKeyDER, loop), eventLoop: loop)
    }.wait()
    let services: [Service?] = Service.allCases + [nil]
    var bound: [Int] = []
    for (service, port) in zip(services, ports) {
      bound.append(try FakeServer(loop: loop, world: greeting, service: service, tls: tls).listen(port: port))
    }
    let addresses = bound
    let line = try loop.submit {
      Self.settle(greeting.value, addresses, account.publicKeyDER)
      return Self.greeting(greeting.value, addresses, provider: provider, account: account)
    }.wait()
    print(String(decoding: line, as: UTF8.self))
    fflush(nil)
    var byte: UInt8 = 0
    while read(STDIN_FILENO, &byte, 1) > 0 { continue }
    exit(0)
  }

  private static func world(_ provider: [UInt8], _ account: [UInt8], _ loop: any EventLoop) -> FakeWorld {
    FakeWorld(
      apns: APNsFake(publicKey: provider), fcm: FCMFake(publicKey: account, tokenURL: ""),
      webPush: WebPushFake(audiences: []), loop: loop)
  }

  // The services whose answers depend on their own ports learn them here.
  private static func settle(_ world: FakeWorld, _ ports: [Int], _ account: [UInt8]) {
    world.fcm = FCMFake(publicKey: account, tokenURL: "https://localhost:\(ports[2])/token")
    world.webPush = WebPushFake(
      audiences: ["https://localhost:\(ports[3])", "https://127.0.0.1:\(ports[3])"])
  }

  private static func greeting(
    _ world: FakeWorld, _ ports: [Int], provider: P256SecretKey, account: RSASecretKey
  ) -> [UInt8] {
    let subscriptions = world.webPush.subscriptions.map { name, subscription in
      JSONValue.object([
        "name": .string(name), "endpoint": .string("https://localhost:\(ports[3])/push/\(name)"),
        "p256dh": .string(Base64URL.text(of: subscription.key.publicKey)),
        "auth": .string(Base64URL.text(of: subscription.authentication)),
      ])
    }
    let serviceAccount: JSONValue = .object([
      "type": .string("service_account"), "project_id": .string(FCMFake.project),
      "private_key_id": .string("fake"), "private_key": .string(account.pem),
      "client_email": .string(FCMFake.clientEmail), "token_uri": .string(world.fcm.tokenURL),
    ])
    return JSONPayload.encode(
      JSONValue.object([
        "ports": .object([
          "apns": .integer(Int64(ports[0])), "fcm": .integer(Int64(ports[1])), "oauth": .integer(Int64(ports[2])),
          "webpush": .integer(Int64(ports[3])), "control": .integer(Int64(ports[4])),
        ]),
        "apns": .object([
          "key": .string(provider.pem), "keyIdentifier": .string(APNsFake.keyIdentifier),
          "team": .string(APNsFake.team), "topic": .string(APNsFake.topic),
        ]),
        "serviceAccount": serviceAccount, "subscriptions": .array(subscriptions),
      ]))
  }
}
