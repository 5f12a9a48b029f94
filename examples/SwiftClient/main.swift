internal import Bus
internal import Contracts
internal import Frames
internal import RoostClient

// A client in Swift: example-client [RELAY]. Asks the supervisor how it is, then a relay for five events, and prints
// them as they come. The library finds the socket, connects, and connects again when the supervisor restarts.

let relay = CommandLine.arguments.dropFirst().first

RoostClient.run(ClientSettings(name: "example-client")) { (roost: RoostClient) throws(Refusal) in
  try await roost.connect()
  let status = try await roost.request(
    "supervisor.status", as: SupervisorStatus.self, options: .idempotent(ttlMilliseconds: 5_000))
  for worker in status.workers { print("\(worker.name) is \(worker.state)") }

  let events = try await roost.stream("relay.request", json: RelayRequest(relay: relay, limit: 5))
  while let event = try await events.next() { print(String(decoding: event.bytes, as: UTF8.self)) }
}
