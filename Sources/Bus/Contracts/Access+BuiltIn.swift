// Roost's own lines of the access table. A line may be added, never renumbered.

extension AccessTable {
  /// Who may read the store; what of it each is given is the store's to say (`StoreReader`).
  private static let readers: [Role] = [
    .client, .outboxPlanner, .dvmTracker, .dvmProvider, .pushRelay, .localRelay,
  ]

  /// Who may reconcile with the store (NIP-77).
  private static let reconcilers: [Role] = [.client, .localRelay]

  /// Who deals with jobs.
  private static let jobWorkers: [Role] = [.dvmTracker, .dvmProvider]

  /// Roost's own lines.
  public static let builtIn: [AccessEntry] = [
    AccessEntry(1, "supervisor.status", servedBy: .supervisor, callers: [.client, .localRelay]),
    AccessEntry(2, "supervisor.start", servedBy: .supervisor, callers: [.client]),
    AccessEntry(3, "supervisor.stop", servedBy: .supervisor, callers: [.client]),
    AccessEntry(4, "supervisor.restart", servedBy: .supervisor, callers: [.client]),
    AccessEntry(5, "supervisor.hold", servedBy: .supervisor, callers: [.client]),
    AccessEntry(6, "supervisor.attach", servedBy: .supervisor, callers: [.client]),
    AccessEntry(7, "supervisor.reload", servedBy: .supervisor, callers: [.client]),
    AccessEntry(8, "supervisor.logs", servedBy: .supervisor, callers: [.client]),
    AccessEntry(9, "supervisor.log-level", servedBy: .supervisor, callers: [.client]),
    AccessEntry(10, "supervisor.why", servedBy: .supervisor, callers: [.client]),
    AccessEntry(11, "supervisor.dead-letters", servedBy: .supervisor, callers: [.client]),
    AccessEntry(12, "supervisor.doctor", servedBy: .supervisor, callers: [.client]),
    AccessEntry(13, "supervisor.shutdown", servedBy: .supervisor, callers: [.client]),
    AccessEntry(14, "supervisor.record", servedBy: .supervisor, callers: [.client]),
    AccessEntry(32, "supervisor.events", .topic, servedBy: .supervisor, callers: [.client]),

    AccessEntry(256, "relay.request", servedBy: .relayConnector, callers: [.client, .outboxPlanner]),
    AccessEntry(257, "relay.publish", servedBy: .relayConnector, callers: [.client, .outboxPlanner]),
    AccessEntry(258, "relay.list", servedBy: .relayConnector, callers: [.client, .outboxPlanner, .localRelay]),
    AccessEntry(259, "relay.desire", servedBy: .relayConnector, callers: [.outboxPlanner]),
    AccessEntry(260, "relay.follow", servedBy: .relayConnector, callers: [.client, .outboxPlanner]),
    AccessEntry(261, "relay.retry", servedBy: .relayConnector, callers: [.client, .outboxPlanner]),
    AccessEntry(262, "relay.information", servedBy: .relayConnector, callers: [.client, .outboxPlanner]),
    AccessEntry(288, "relay.states", .topic, servedBy: .relayConnector, callers: [.client, .outboxPlanner]),

    AccessEntry(320, "store.ingest", servedBy: .eventStore, callers: [.relayConnector]),
    AccessEntry(321, "store.import", servedBy: .eventStore, callers: [.client, .relayConnector]),
    AccessEntry(
      322, "store.publish", servedBy: .eventStore, callers: [.client] + jobWorkers + [.outboxPlanner]),
    AccessEntry(
      323, "store.query", servedBy: .eventStore, callers: [.client, .outboxPlanner, .pushRelay] + jobWorkers),
    AccessEntry(
      324, "store.count", servedBy: .eventStore, callers: [.client, .outboxPlanner, .dvmProvider, .localRelay]),
    AccessEntry(325, "store.observe", servedBy: .eventStore, callers: readers),
    AccessEntry(326, "store.seen", servedBy: .eventStore, callers: [.client, .outboxPlanner]),
    AccessEntry(327, "store.status", servedBy: .eventStore, callers: [.client, .outboxPlanner, .localRelay]),
    AccessEntry(328, "store.acknowledge", servedBy: .eventStore, callers: [.client, .outboxPlanner]),
    AccessEntry(329, "store.fetched", servedBy: .eventStore, callers: [.outboxPlanner]),
    AccessEntry(330, "store.observes.list", servedBy: .eventStore, callers: [.client, .outboxPlanner]),
    AccessEntry(331, "store.coverage", servedBy: .eventStore, callers: [.client, .outboxPlanner]),
    AccessEntry(
      332, "store.offer", servedBy: .eventStore, callers: [.client, .localRelay, .outboxPlanner, .dvmTracker]),
    AccessEntry(333, "store.reconcile.open", servedBy: .eventStore, callers: reconcilers),
    AccessEntry(334, "store.reconcile.next", servedBy: .eventStore, callers: reconcilers),
    AccessEntry(335, "store.reconcile.close", servedBy: .eventStore, callers: reconcilers),
    AccessEntry(336, "store.offer.foreign", servedBy: .eventStore, callers: [.localRelay]),
    AccessEntry(352, "store.observes", .topic, servedBy: .eventStore, callers: [.client, .outboxPlanner]),
    AccessEntry(353, "store.covered", .topic, servedBy: .eventStore, callers: [.client, .outboxPlanner]),

    AccessEntry(
      384, "plan.publish", servedBy: .outboxPlanner, callers: [.client, .localRelay, .dvmTracker, .dvmProvider]),
    AccessEntry(385, "plan.publications", servedBy: .outboxPlanner, callers: [.client, .dvmTracker]),
    AccessEntry(386, "plan.follow", servedBy: .outboxPlanner, callers: [.client]),
    AccessEntry(387, "plan.retry", servedBy: .outboxPlanner, callers: [.client]),
    AccessEntry(388, "plan.cancel", servedBy: .outboxPlanner, callers: [.client, .dvmTracker]),
    AccessEntry(389, "plan.route", servedBy: .outboxPlanner, callers: [.client]),
    AccessEntry(390, "plan.relays", servedBy: .outboxPlanner, callers: [.client]),
    AccessEntry(391, "plan.relays.add", servedBy: .outboxPlanner, callers: [.client]),
    AccessEntry(392, "plan.relays.remove", servedBy: .outboxPlanner, callers: [.client]),
    AccessEntry(393, "plan.progress", servedBy: .outboxPlanner, callers: [.client, .localRelay]),
    AccessEntry(394, "plan.status", servedBy: .outboxPlanner, callers: [.client, .localRelay]),
    AccessEntry(395, "plan.replaced", servedBy: .outboxPlanner, callers: [.client]),
    AccessEntry(416, "plan.published", .topic, servedBy: .outboxPlanner, callers: [.client, .dvmTracker]),

    AccessEntry(448, "job.submit", servedBy: .dvmTracker, callers: [.client]),
    AccessEntry(449, "job.list", servedBy: .dvmTracker, callers: [.client]),
    AccessEntry(450, "job.show", servedBy: .dvmTracker, callers: [.client]),
    AccessEntry(451, "job.follow", servedBy: .dvmTracker, callers: [.client]),
    AccessEntry(452, "job.approve", servedBy: .dvmTracker, callers: [.client]),
    AccessEntry(453, "job.deny", servedBy: .dvmTracker, callers: [.client]),
    AccessEntry(454, "job.cancel", servedBy: .dvmTracker, callers: [.client]),
    AccessEntry(455, "job.providers", servedBy: .dvmTracker, callers: [.client]),
    AccessEntry(456, "job.status", servedBy: .dvmTracker, callers: [.client, .localRelay]),

    AccessEntry(512, "dvm.status", servedBy: .dvmProvider, callers: [.client, .dvmTracker, .localRelay]),
    AccessEntry(513, "dvm.jobs", servedBy: .dvmProvider, callers: [.client]),

    AccessEntry(576, "push.status", servedBy: .pushRelay, callers: [.client, .localRelay]),
    AccessEntry(577, "push.devices", servedBy: .pushRelay, callers: [.client]),
    AccessEntry(578, "push.send", servedBy: .pushRelay, callers: [.client]),
    AccessEntry(579, "push.rekey", servedBy: .pushRelay, callers: [.client]),

    AccessEntry(640, "signer.sign", servedBy: .signer, callers: [.client, .outboxPlanner, .dvmTracker, .dvmProvider]),
    AccessEntry(641, "signer.authenticate", servedBy: .signer, callers: [.relayConnector]),
    AccessEntry(642, "signer.nip04.encrypt", servedBy: .signer, callers: [.client, .dvmTracker, .dvmProvider]),
    AccessEntry(643, "signer.nip04.decrypt", servedBy: .signer, callers: [.client, .dvmTracker, .dvmProvider]),
    AccessEntry(644, "signer.nip44.encrypt", servedBy: .signer, callers: [.client, .dvmTracker, .dvmProvider]),
    AccessEntry(645, "signer.nip44.decrypt", servedBy: .signer, callers: [.client, .dvmTracker, .dvmProvider]),
    AccessEntry(646, "signer.wrap", servedBy: .signer, callers: [.client]),
    AccessEntry(647, "signer.unwrap", servedBy: .signer, callers: [.client]),
    AccessEntry(
      648, "signer.accounts", servedBy: .signer,
      callers: [.client, .relayConnector, .outboxPlanner, .dvmTracker, .dvmProvider, .pushRelay, .localRelay]),
    AccessEntry(649, "signer.generate", servedBy: .signer, callers: [.client]),
    AccessEntry(650, "signer.import", servedBy: .signer, callers: [.client]),
    AccessEntry(651, "signer.unlock", servedBy: .signer, callers: [.client]),
    AccessEntry(652, "signer.lock", servedBy: .signer, callers: [.client]),
    AccessEntry(653, "signer.remove", servedBy: .signer, callers: [.client]),
    AccessEntry(654, "signer.passphrase", servedBy: .signer, callers: [.client]),
    AccessEntry(655, "signer.own", servedBy: .signer, callers: jobWorkers),
    AccessEntry(
      672, "signer.changes", .topic, servedBy: .signer, callers: [.client, .outboxPlanner, .localRelay] + jobWorkers),

    AccessEntry(704, "local.status", servedBy: .localRelay, callers: [.client]),
    AccessEntry(705, "local.clients", servedBy: .localRelay, callers: [.client]),
    AccessEntry(706, "local.allow", servedBy: .localRelay, callers: [.client]),
    AccessEntry(707, "local.deny", servedBy: .localRelay, callers: [.client]),
  ]
}
