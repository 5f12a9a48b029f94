internal import ArgumentParser
internal import Bus
internal import EventLoop
internal import Frames
internal import RoostClient
internal import Rendering

/// `roost bus`, also `roost pipe`
struct BusCommand: LoopCommand {
  static let configuration = CommandConfiguration(
    commandName: "bus",
    abstract: "Connects a program to the bus by lines: JSON in, JSON out, many requests at once.",
    discussion: """
      A request is one line, an answer one or more:

        {"id":1,"method":"relay.list","params":{}}

        {"id":1,"progress":…}    what the worker says while it works
        {"id":1,"part":…}        as parts come, then one of
        {"id":1,"result":…}
        {"id":1,"error":{"code":…,"message":…,"outcome":…}}

      A request may also have "to":"WORKER", "ttlMilliseconds":5000, "atMostOnce":true and "idempotent":true. \
      'id' is any JSON and comes back unchanged; answers come in the order in which they are ready.

        {"cancel":1}                                  gives request 1 up
        {"id":2,"subscribe":"supervisor.events"}      a topic, until 2 is cancelled

        {"id":2,"subscribed":true}, {"id":2,"event":…}, {"id":2,"missed":3}

      Ends when the input has ended and everything is answered, or when its output is no longer read. docs/bus.md has \
      the rest.
      """,
    aliases: ["pipe"])
  @Option(help: "The program's name, as 'roost status' shows it.")
  var name = "roost"
  @OptionGroup var general: GeneralOptions

  var clientName: String { name }

  func run(in session: CommandSession) async throws(Refusal) -> ExitStatus {
    try await session.client.connect()
    try session.onInterrupt(.interrupted) {}
    session.output.leaveWithReader()
    try await BusLineRunner(session).run()
    return .done
  }
}
