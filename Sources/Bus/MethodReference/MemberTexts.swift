// Written by `make methods` from the comments beside the members: change them there.

/// What the comments say of each member of a payload type, of each role and of each refusal.
public enum MemberTexts {
  /// A line each: the name, a tab, the text.
  static let lines = #"""
    AccessEntry.callers	The roles that may call or subscribe.
    AccessEntry.kind	Method or topic.
    AccessEntry.name	`relay.request`
    AccessEntry.number	The number in the header's `method`.
    AccessEntry.server	The role that serves or publishes it.
    AccessTable.CustomRole.callableBy	Roles that may call what it serves.
    AccessTable.CustomRole.mayCall	Methods and topics of others that it may call or subscribe to: full names, or `prefix.*`.
    AccessTable.CustomRole.name	The role's name, which must not be a built-in one.
    AccessTable.CustomRole.serves	Methods it may serve: full names, or `prefix.*`.
    AccessTable.ServeProblem.method	The method's name.
    AccessTable.ServeProblem.reason	Why not.
    AccessTable.ServeProblem.role	The peer's role.
    ActiveObserve.exclusiveRelays	Whether only those are to be asked.
    ActiveObserve.filters	The filters, in canonical form.
    ActiveObserve.key	The same for the same filters, policy and relays, always: 64 hexadecimal digits.
    ActiveObserve.maxAge	The least age in seconds that an observer takes; 0 wants the network always.
    ActiveObserve.needsNetwork	Whether the network is to be asked now for any of the observers.
    ActiveObserve.observers	How many observe it; never 0.
    ActiveObserve.policy	Where events come from.
    ActiveObserve.relays	Relays named by the observers, canonical and sorted.
    AttachGrant.command	A command line that does it, for a shell.
    AttachGrant.expiresMilliseconds	Milliseconds the token is good for.
    AttachGrant.name	The name to join under.
    AttachGrant.remark	What must be done to the command before it can run, in a sentence.
    AttachGrant.role	The role.
    AttachGrant.socket	The socket to connect to.
    AttachGrant.token	The token, good for one HELLO.
    AttachRequest.name	The worker's place to take, if it is one of `supervisor.conf`; absent: the worker of that role when there is exactly one, else a new name.
    AttachRequest.role	The role to join as.
    ClientStatus.mailboxFrames	Frames that wait for it.
    ClientStatus.name	What it calls itself.
    ClientStatus.outstanding	Requests it waits for.
    ClientStatus.pid	Its process id, from the kernel.
    ConfiguredConnector.ephemeral	Whether it dials relays that no group has.
    ConfiguredConnector.name	The worker's name.
    ConfiguredConnector.reads	Whether observes are to be asked there.
    ConfiguredConnector.relays	The URLs of its relays, as they are written in `supervisor.conf`.
    ConfiguredConnector.writes	Whether events are to be published there.
    ConnectorSettings.caFile	A file of authorities that are trusted beside the system's; "" for none.
    ConnectorSettings.connect	When the relays of the group are dialled.
    ConnectorSettings.connectTimeoutMilliseconds	How long each step of connecting may take.
    ConnectorSettings.ephemeral	Whether it dials relays that a caller names and no group has.
    ConnectorSettings.ownAddresses	Where the local relays of this Roost listen, which are not dialled; from roostd, no key of the file.
    ConnectorSettings.reads	Whether the relays of the group are asked for what clients observe.
    ConnectorSettings.relays	The URLs of the group's relays.
    ConnectorSettings.requestTimeoutMilliseconds	How long a relay may say nothing about a request.
    ConnectorSettings.writes	Whether events are published to the relays of the group.
    CoverageAdded.at	When the end came, seconds since 1970.
    CoverageAdded.filter	The filter; absent when it is too long to be repeated.
    CoverageAdded.isStoredEnd	Whether the relay has sent all it had for it: else a page of it.
    CoverageAdded.key	The filter's name, SHA-256 of its canonical form: 64 hexadecimal digits.
    CoverageAdded.number	One more than the event before, from 1 in each life of the store; when some are missing here, ask `store.coverage`.
    CoverageAdded.relay	The relay's URL.
    CoverageAdded.since	The first second of creation since which nothing is missing, if the end says so.
    CoverageAdded.until	The last.
    CoveredFilter.Interval.checkedAt	When the relay was asked, seconds since 1970.
    CoveredFilter.Interval.since	The first second of creation.
    CoveredFilter.Interval.until	The last.
    CoveredFilter.fetchedAt	When the relay last sent all it had for this very filter, its times and limit included; seconds since 1970.
    CoveredFilter.filter	Which of the filters asked about, from 0.
    CoveredFilter.intervals	The earliest first; they do not overlap.
    CoveredFilter.relay	The relay's URL.
    DeadLetterRecord.deliveries	How often it was delivered.
    DeadLetterRecord.id	Its name among the dead letters.
    DeadLetterRecord.isBase64	Whether `payload` is base64. Left out with it.
    DeadLetterRecord.isRaw	Whether the payload is raw bytes.
    DeadLetterRecord.method	The method, by name.
    DeadLetterRecord.payload	The payload: text if it is UTF-8, else base64 (see `isBase64`). Left out where it is empty, as in a list.
    DeadLetterRecord.sender	Who sent it.
    DeadLetterRecord.time	When it was quarantined last; RFC 3339.
    DeadLetterRecord.trace	The trace number, in hexadecimal.
    DeadLetterRecord.worker	The worker it was for.
    DeadLettersRequest.action	`list`, `show`, `retry` or `drop`.
    DeadLettersRequest.id	Which one, for all but `list`; `all` with `drop` takes every one.
    DeadLettersResult.answer	For `retry`: the end of the worker's answer, as text if it is UTF-8, else base64.
    DeadLettersResult.isAnswerBase64	Whether answer is base64; absent = no.
    DeadLettersResult.letters	The letters asked for: all for `list` (their payloads may be left out), one for `show`; those acted on for the others.
    DeadLettersResult.sentence	What was done, for `retry` and `drop`.
    DesiredSubscription.account	Who shows himself if the relay asks for it (NIP-42), 64 hexadecimal digits; nobody when absent.
    DesiredSubscription.filters	NIP-01 filters.
    DesiredSubscription.isForeign	The relay was named by other people: it is not dialled at a private address.
    DesiredSubscription.isLive	Whether it stands after EOSE; else it is over then.
    DesiredSubscription.key	The planner's name for it, 1 to 64 bytes, one of all relays. Other filters under the same key are a new REQ.
    DesiredSubscription.relay	The relay.
    DoctorResult.Check.isGood	Whether nothing has to be mended.
    DoctorResult.Check.isPending	Whether it is on its way, or as somebody wanted it: good, and not at work. Absent: no.
    DoctorResult.Check.name	What was looked at.
    DoctorResult.Check.text	What was found, and what to do.
    DoctorResult.checks	All looks.
    EventPage.Problem.offset	Where in the page, in bytes.
    EventPage.Problem.reason	What is wrong.
    EventPage.Record.bytes	Where its bytes are in the page.
    EventPage.Record.kind	Its kind.
    EventPage.Record.seq	Its place in the order of commits; nil for an ephemeral one, which is not kept.
    FieldRange.maximum	The greatest value; nil: that of the type.
    FieldRange.minimum	The least value.
    FieldRange.name	Its name; of one in an object among them with the object's: `payment.jobMaximum`.
    HoldCommand.hold	False releases; true unless said.
    HoldCommand.worker	The worker's name.
    IngestRecord.Problem.offset	Where in the run, in bytes.
    IngestRecord.Problem.reason	What is wrong.
    IngestRecord.bytes	Where its bytes are in the run.
    IngestRecord.kind	What it is.
    IngestRecord.receivedNanoseconds	When it came, nanoseconds since 1970.
    IngestRecord.relay	The relay's number in this run; 0 for none.
    IngestRecord.subscription	The sender's subscription.
    IngestResult.Invalid.reason	Why, as a sentence's end.
    IngestResult.Invalid.record	Which record of the run it was, from 0; records of other kinds are counted too.
    IngestResult.Invalid.relay	The relay it came from, when the run names it.
    IngestResult.deleted	Deleted by its author.
    IngestResult.duplicate	There already.
    IngestResult.ephemeral	Ephemeral: passed on to whoever listens, and not kept.
    IngestResult.expired	Over by its own `expiration`.
    IngestResult.invalid	The first of those, 256 at most.
    IngestResult.invalidCount	Not events, or not signed by who they say.
    IngestResult.mended	There, and damaged: the copy has taken the place of what was stored. Absent: none.
    IngestResult.seq	The last seq of the store.
    IngestResult.stored	Stored now.
    IngestResult.superseded	A newer one is in its place.
    IngestRun.bytes	The records.
    IngestRun.isRaw	RAW.
    Job.account	Whose it is, 64 hexadecimal digits.
    Job.accountName	The name of that account at the signer; `dvm-tracker` is this machine's own, which has the jobs that nobody is named for while no person has an account here. Absent while the signer has not told.
    Job.dependsOn	Jobs here whose results it needs.
    Job.diagnostics	What was odd about what providers sent, with how often.
    Job.endedAt	When it has ended, seconds since 1970.
    Job.id	16 hexadecimal digits.
    Job.key	The caller's name for it.
    Job.kind	The kind of its requests.
    Job.nextDeadlineAt	When the present phase ends by itself, seconds since 1970.
    Job.providers	Providers that have answered or were named.
    Job.reason	Why it is in this state, as a sentence's end.
    Job.requests	Its requests, the first one first.
    Job.result	The result that is taken.
    Job.state	How far it is.
    Job.submittedAt	When it was accepted, seconds since 1970.
    JobDeadlines.answer	From there to the first sign of a provider. Then: a new request, the next provider, or expired.
    JobDeadlines.decision	For a decision about a payment that is asked for. Then: as denied.
    JobDeadlines.delivery	From a payment to the result. Then: expired, paid and undelivered.
    JobDeadlines.publish	Until a relay has a request, or the store here one that stays here. Then: expired.
    JobDeadlines.result	From a provider's last sign to its result. Then: a new request, the next provider, or expired.
    JobDeadlines.total	For all of it.
    JobInputArgument.data	A URL, an event's id, a job, or the text itself.
    JobInputArgument.marker	What it is for.
    JobInputArgument.relay	Where the event or job was published.
    JobInputArgument.type	`url`, `event`, `job` or `text`. Of `job` the data is the `id` or `key` of a job here, whose result is then waited for, or the id of anybody's request event.
    JobList.limit	Most jobs wanted, from 0.
    JobList.states	In one of these states; in any when absent.
    JobPayments.amount	Millisatoshi together, as far as they have said.
    JobPayments.count	How many.
    JobProvider.about	As announced.
    JobProvider.announcedAt	When it has announced itself last, seconds since 1970.
    JobProvider.answered	Those that it has answered with a result.
    JobProvider.asked	Requests that this machine has addressed to it.
    JobProvider.contradictions	Jobs in which it asked for money by a bill that nobody could approve: no invoice, or one of another amount or network than it said.
    JobProvider.isHere	Whether it is the provider of this machine. Absent: no.
    JobProvider.kinds	Kinds of requests that it serves, as announced; of the provider of this machine, as it says itself.
    JobProvider.medianMilliseconds	Half of its results came faster, in milliseconds.
    JobProvider.name	As announced.
    JobProvider.provider	64 hexadecimal digits.
    JobProvider.undelivered	Payments for which no result came.
    JobProvider.unpaid	Its results that were not paid.
    JobProviderState.amount	What it wants, in millisatoshi.
    JobProviderState.invoice	Its invoice, when that is in order. Absent where it shows none: then it is paid by a zap.
    JobProviderState.invoiceProblem	Why it is not to be paid what it asks for, as a sentence's end.
    JobProviderState.lastSignAt	When it has said something last, seconds since 1970.
    JobProviderState.message	Its own words.
    JobProviderState.partial	A part or sample of the result.
    JobProviderState.payment	How the payment is; absent when nothing is asked for.
    JobProviderState.provider	64 hexadecimal digits.
    JobProviderState.results	Results it has sent.
    JobProviderState.state	How far it is there.
    JobProviderState.zap	The zap by which it is paid, once that is approved.
    JobProviders.fetches	Whether relays are asked as well; only the store unless said.
    JobProviders.kind	Those that serve this kind of request; all when absent.
    JobProviders.limit	Most providers wanted, from 0.
    JobReceiptState.author	Its author, 64 hexadecimal digits.
    JobReceiptState.event	The event's id.
    JobReceiptState.proof	By what it proves that the zap was paid. Absent: anybody may have written it, and it counts for nothing.
    JobReference.invoice	The invoice that the provider's wallet has made for the zap's request; goes with `preimage`.
    JobReference.job	Its `id`, its `key`, or the id of one of its request events.
    JobReference.preimage	Proof of a payment, 64 hexadecimal digits.
    JobReference.provider	The provider it is about.
    JobReference.wallet	Who writes the receipts of the provider's wallet: `nostrPubkey` of its lnurl page. It is then paid by a zap.
    JobReference.zap	Whether it is paid by a zap though there is an invoice; no unless said.
    JobRequestState.confirmedRelays	Relays that have it, and relays that it is for; both 0 when it stays on this machine.
    JobRequestState.event	The event's id.
    JobRequestState.isStored	Whether the store of this machine has it.
    JobRequestState.providers	Whom it addresses, 64 hexadecimal digits each; nobody: it is open to all.
    JobRequestState.relays	Relays that it is for.
    JobResultState.content	The result, in clear.
    JobResultState.createdAt	When it was made, as its provider says, seconds since 1970.
    JobResultState.event	The event's id.
    JobResultState.isCut	Whether the content is too long to be kept whole; the event has it. Absent: no.
    JobResultState.provider	Who made it, 64 hexadecimal digits.
    JobSubmit.Choice.agreement	How many providers must have given the same result, 32 at most; 1 unless said.
    JobSubmit.Choice.window	Seconds for which offers are collected before one is approved, maximum at most; 0 unless said: the first one counts.
    JobSubmit.Payment.dayMaximum	Most millisatoshi in 24 hours, all jobs together; as configured unless said, and never more than that.
    JobSubmit.Payment.jobMaximum	Most millisatoshi for this job; its bid unless said.
    JobSubmit.Payment.mode	Who decides; the caller unless said.
    JobSubmit.Payment.providerMaximum	Most millisatoshi for one provider in 24 hours; as configured unless said, and never more than that.
    JobSubmit.account	Whose job it is; unless said the only account of a person. While there is none it is the tracker's own, and from the first one on that one: which it was stands in accountName.
    JobSubmit.allowSecrets	Whether a secret key (`nsec1…`, `ncryptsec1…`) may stand in it; no unless said: providers read it.
    JobSubmit.bid	Most to be paid, in millisatoshi.
    JobSubmit.choice	Which of several answers is taken.
    JobSubmit.deadlines	How long each phase may last.
    JobSubmit.encryption	How inputs and parameters are kept from others; not at all unless said. It needs providers, unless the provider of this machine does it.
    JobSubmit.inputs	What is to be worked on, 64 at most.
    JobSubmit.key	The caller's own name for it, 1 to 128 bytes; made unless given.
    JobSubmit.kind	5000 … 5999.
    JobSubmit.output	The MIME type wanted of the result.
    JobSubmit.params	Names, each with its values: `["lang","es"]`; 64 at most.
    JobSubmit.payment	What may be paid.
    JobSubmit.providers	Who is asked: `npub` or 64 hexadecimal digits each, 32 at most. Without any, whoever likes.
    JobSubmit.reach	How far the request goes.
    JobSubmit.relays	Where the answers are to be published; as planned unless said.
    JobSubmit.retries	How often a provider that has fallen silent gets a new request before the next one is asked, or the job ends; 0 to 10, 0 unless said. An answer to an earlier request counts all the same.
    JobSubmit.topics	Words by which providers find it (`t`).
    JobSubmit.turns	Whether the providers are asked all at once, or one after another; all unless said, and one after another when it is encrypted.
    JobZapState.address	The same as an address: `alice@example.com`.
    JobZapState.amount	What is paid, in millisatoshi.
    JobZapState.lnurl	The page that the request is sent to, as the provider's profile has it: `lnurl1…`. Absent where it has none.
    JobZapState.receipts	Receipts for the request that have come.
    JobZapState.request	The request (kind 9734), signed, as JSON: what the wallet is sent, to the byte. Absent until it is signed.
    JobZapState.target	The event that is zapped, which asks for the payment.
    ListenAddress.host	The address; one of IPv4 also where it was written as IPv6 carries it (`[::ffff:127.0.0.1]`).
    ListenAddress.port	1 to 65,535.
    ListenAddressFault.description	The sentence.
    LocalRelayClient.address	Its address and port.
    LocalRelayClient.agent	The program it says it is.
    LocalRelayClient.authenticated	Keys it has shown itself as, 64 hexadecimal digits each.
    LocalRelayClient.delivered	Events sent to it.
    LocalRelayClient.isAdmitted	Whether it may do anything; else it is an unknown page, or has not shown itself.
    LocalRelayClient.number	Counts connections since the start.
    LocalRelayClient.origin	The page it is, if it is one in a browser.
    LocalRelayClient.since	When it came, seconds since 1970.
    LocalRelayClient.subscriptions	Its subscriptions.
    LocalRelayClient.taken	Events it has sent that were taken.
    LocalRelayClients.allowed	Origins that were allowed, sorted.
    LocalRelayClients.clients	Connections.
    LocalRelayClients.others	How many there are besides.
    LocalRelayOrigin.origin	The origin as browsers write it: scheme, host, and port unless it is the scheme's own.
    LocalRelayOrigins.allowed	Sorted.
    LocalRelayOutsider.count	Connections that had to show themselves and requests that were refused, since the start.
    LocalRelayOutsider.uid	The user.
    LocalRelaySettings.allowUids	Users of this machine that are no strangers, besides its own: `allow-uids` of roostd, which sends it.
    LocalRelaySettings.certificateFile	The certificate chain, in PEM; "" for none.
    LocalRelaySettings.connectionsMaximum	Most connections.
    LocalRelaySettings.contact	The contact in NIP-11; "" for none.
    LocalRelaySettings.description	The description in NIP-11; "" for Roost's own.
    LocalRelaySettings.eventsPerSecond	Events that a client may send in a second.
    LocalRelaySettings.fetch	Whether the network is asked for what any client asks for.
    LocalRelaySettings.fetchClients	Origins or public keys of clients for which the network is asked.
    LocalRelaySettings.fetchFilters	Filters, as JSON, for which the network is asked.
    LocalRelaySettings.filtersMaximum	Most filters of a subscription.
    LocalRelaySettings.guests	Keys that may come in where a client must authenticate, beside the accounts; npub or hexadecimal.
    LocalRelaySettings.hosts	Further names that clients may know it by, beside those of its own machine.
    LocalRelaySettings.keyFile	The certificate's key, in PEM; "" when it is in the same file.
    LocalRelaySettings.listen	Addresses to listen at, where Nostr's clients look for a local relay.
    LocalRelaySettings.messageBytes	Bytes of one message of a client.
    LocalRelaySettings.requestsPerSecond	Subscriptions that a client may ask for in a second.
    LocalRelaySettings.slowClientMilliseconds	How long a client may read nothing before it is disconnected.
    LocalRelaySettings.subscriptionsMaximum	Most subscriptions of a client.
    LocalRelayStatus.accepted	Connections since the start.
    LocalRelayStatus.addresses	Where it listens, as clients dial it: what listens everywhere by its names and at the loopback.
    LocalRelayStatus.connections	Connections now, and how many there may be.
    LocalRelayStatus.connectionsMaximum	The bound.
    LocalRelayStatus.delivered	Events sent to clients.
    LocalRelayStatus.displaced	Connections since the start that were cut before their clients had shown themselves, since others needed the place.
    LocalRelayStatus.displacedSecondsAgo	When that was last; absent: never.
    LocalRelayStatus.everywhere	Where it listens everywhere, in words: `every IPv4 address, port 4869`. Absent: nowhere.
    LocalRelayStatus.knowsUsers	Whether the kernel tells whose programs connect; where it does not, all of this machine have to show themselves. Absent in answers of earlier versions.
    LocalRelayStatus.outside	Connections now whose clients have not shown themselves, and how many there may be.
    LocalRelayStatus.outsideMaximum	The bound.
    LocalRelayStatus.outsideProxied	By a proxy.
    LocalRelayStatus.outsideUnknown	Of programs whose user cannot be told.
    LocalRelayStatus.outsideUsers	Of those from this machine, connections since the start that had to show themselves, and requests for the page that were refused: of other users, of programs whose user the kernel does not tell, by a proxy. Absent in answers of earlier versions.
    LocalRelayStatus.outsiders	Of `outsideUsers` each user with its number, the most first; 62 users at most, and those that come beyond them count among `outsideUnknown`. Absent in answers of earlier versions.
    LocalRelayStatus.refused	Events and requests of clients that were refused.
    LocalRelayStatus.subscriptions	Subscriptions of all of them.
    LocalRelayStatus.taken	Events that clients have sent and that were taken.
    LocalRelayStatus.turnedAway	Connections turned away, since there were too many.
    LocalRelayStatus.turnedAwaySecondsAgo	When a connection was last turned away; absent: never, or an earlier version's answer.
    LogLevelRequest.category	A category; `*` for all without a level of their own.
    LogLevelRequest.level	`trace`, `debug`, `info`, `notice`, `warning`, `error` or `critical`.
    LogLevelResult.category	The category.
    LogLevelResult.level	Its level.
    LogLevelResult.remark	A doubt: whether the category is anybody's.
    LogRecord.category	The category of a structured line; `stdout` or `stderr` for plain ones.
    LogRecord.fields	Further fields of a structured line.
    LogRecord.level	`trace` … `critical`; plain lines of standard output are `info`, of standard error `notice`.
    LogRecord.message	The text.
    LogRecord.time	Wall time, RFC 3339 in UTC with milliseconds; for people, never for arithmetic.
    LogRecord.worker	The worker that wrote it; `roostd` for the supervisor itself.
    LogsRequest.follow	Whether to go on with new ones.
    LogsRequest.lines	How many past lines.
    LogsRequest.worker	Only this worker's lines.
    Method.declaration	What is known of it without its types.
    MethodDeclaration.answer	The type of the answer.
    MethodDeclaration.arguments	The type of the arguments, or of what a topic publishes.
    MethodDeclaration.callers	The roles that may call or subscribe.
    MethodDeclaration.kind	Method or topic.
    MethodDeclaration.name	`relay.request`
    MethodDeclaration.number	The number in the header's `method`. Part of the protocol: never given to another.
    MethodDeclaration.part	The type of each part; nil: there are none.
    MethodDeclaration.refusals	Refusals of its own, beside those that any method may answer.
    MethodDeclaration.server	The role that serves or publishes it.
    MethodDeclaration.text	What it does, a sentence or two.
    ObserveChanges.changed	Entries that are new or other than before, whole.
    ObserveChanges.generation	The life of the store that counts these versions.
    ObserveChanges.removed	Keys of entries that nobody observes any more.
    ObserveChanges.version	One more than the version before.
    ObserveListEnd.count	How many entries the list has.
    ObserveListEnd.generation	As in ObserveChanges.
    ObserveListEnd.version	Changes up to this version are in the list.
    ObserveProgress.Relay.events	Events it has brought.
    ObserveProgress.Relay.reason	Why it waits or has refused.
    ObserveProgress.Relay.relay	Its URL.
    ObserveProgress.Relay.state	As in RequestReport.
    ObserveProgress.isComplete	Whether every relay has sent what it had stored, or is not expected to.
    ObserveProgress.isObserved	Whether it is observed by anybody at present.
    ObserveProgress.relays	The relays.
    ObservedEvent.event	The event.
    ObservedEvent.seq	Its place in the order of commits; absent for an ephemeral one.
    ObservedEvents.bytes	The part.
    ObservedEvents.isRaw	Whether it is a page.
    OfferOutcomes.bytes	The outcomes.
    OfferOutcomes.isRaw	RAW.
    OfferRun.Problem.offset	Where in the run, in bytes.
    OfferRun.Problem.reason	What is wrong.
    OfferedEvents.bytes	The run.
    OfferedEvents.isRaw	RAW.
    PayloadShape.Member.isOptional	Whether it may be missing.
    PayloadShape.Member.name	Its name.
    PayloadShape.Member.type	Its type.
    PayloadShape.isText	Whether the type is a text in JSON, such as `RefusalCode`.
    PayloadShape.members	In the order in which the type reads them.
    PlanPublication.id	The event's id, 64 hexadecimal digits.
    PlanPublication.relay	Only this relay of it.
    PlanPublications.ids	Only these events, 64 hexadecimal digits each.
    PlanPublications.limit	Most publications wanted, from 0.
    PlanPublications.states	In one of these states; in any when absent.
    PlanPublish.event	The signed event.
    PlanPublish.expiresAfter	Seconds after which relays that have not taken it are given up; as configured unless said.
    PlanPublish.foreignRelays	To these relays besides, as far as there is room: somebody else has named them, such as the customer of a job. They are never dialled at a private address, nor within the dial budget of what the user does himself. A gift wrap goes to none of them.
    PlanPublish.relays	To these relays and no others, 32 at most; planned unless said.
    PlanPublish.replace	Whether it is meant that a profile or list (kinds 0 and 3, those of NIP-51) loses entries of its predecessor. That one is kept for `plan.replaced`. Not meant unless said.
    PlanRelay.reads	Whether observes are asked there; true unless said.
    PlanRelay.relay	The relay.
    PlanRelay.writes	Whether events are published there; true unless said.
    PlanRelayList.Relay.connector	The worker that holds the connection.
    PlanRelayList.Relay.reads	Whether observes are asked there.
    PlanRelayList.Relay.relay	Its canonical URL.
    PlanRelayList.Relay.sources	Where it is from: `supervisor.conf [worker.NAME]`, `added`, `ACCOUNT's list`.
    PlanRelayList.Relay.state	As in `relay.list`, when the connector has said so.
    PlanRelayList.Relay.writes	Whether events are published there.
    PlanRelayList.relays	The relays, by URL.
    PlanReplaced.forget	Whether that version is kept no longer.
    PlanReplaced.id	Only this version, with its event: the event's id, 64 hexadecimal digits.
    PlanRoute.event	This event is published; signed or not: `kind`, `pubkey` and `tags` count.
    PlanRoute.filters	Asked with these filters.
    PlanStatus.ephemeralRelays	Relays dialled that no group of `supervisor.conf` has.
    PlanStatus.fault	Why nothing can be accepted at present, if so.
    PlanStatus.inFlight	Sent to relays and not answered yet.
    PlanStatus.observes	Observes that the network is asked for.
    PlanStatus.overdue	Publications that wait for a relay for longer than 300. Absent: none.
    PlanStatus.overdueRelays	The relays those wait for, those of most publications first, 8 at most. Absent: none.
    PlanStatus.publications	Publications by state.
    PlanStatus.requests	REQs wanted of relays.
    PlanStatus.shrunkLists	Lists that have lost more than half of their entries within the last days, the newest first. Absent: none.
    PlanStatus.silentConnectors	Connectors of `supervisor.conf` that say nothing, by name: held, stopped, or on their way. Absent: none.
    PlanStatus.waitingForConnectors	Publications of which something waits for one of those. Absent: none.
    PlannerSettings.connectors	The connectors that are to run, and their relays; from roostd, no key of the file.
    PlannerSettings.hasSigner	Whether a signer is to run; from roostd, no key of the file.
    PlannerSettings.ownAddresses	Where the local relays of this Roost listen; from roostd, no key of the file.
    PlannerSettings.publishExpiryMilliseconds	After how long relays that have not taken an event are given up: three days, a weekend without a network.
    ProviderSettings.about	Its description there; "" for none.
    ProviderSettings.account	The account that answers; "" for the worker's own.
    ProviderSettings.announce	Whether it says in public what it serves (NIP-89).
    ProviderSettings.concurrent	Requests that it works on at a time.
    ProviderSettings.customers	`["accounts"]`, `["anyone"]`, or public keys.
    ProviderSettings.name	Its name there; "" for Roost.
    ProviderSettings.network	Whether it asks relays for requests, and sends its answers there.
    ProviderSettings.openMarket	Whether it takes requests that name no provider.
    ProviderSettings.paymentTimeMilliseconds	How long it waits for a payment.
    ProviderSettings.requestAgeMilliseconds	The age of the oldest request that it takes.
    ProviderSettings.waitingMaximum	Requests that wait; one more is refused.
    Publication.acceptedAt	When it was accepted, seconds since 1970.
    Publication.author	Its author, 64 hexadecimal digits.
    Publication.expiresAt	When relays that have not taken it are given up, seconds since 1970.
    Publication.id	The event's id.
    Publication.kind	Its kind.
    Publication.remarks	What is worth knowing of it beside that, to who has it published: `it does nothing for note1…`. Absent: nothing.
    Publication.state	All its relays together.
    Publication.targets	Its relays, in the order of their URLs.
    PublicationTarget.attempts	How often it was sent or tried.
    PublicationTarget.confirmedAt	When the relay has taken it, seconds since 1970.
    PublicationTarget.message	The relay's words, or why it cannot be sent, at the last attempt.
    PublicationTarget.nextAttemptAt	When it is tried again, seconds since 1970.
    PublicationTarget.relay	The relay.
    PublicationTarget.state	How far it is.
    PublicationTarget.why	Why this relay: `alice's list`, `configured`, `dm-list of npub1…`, `named`.
    PublishResult.id	The event's id.
    PublishResult.isMended	Whether it was there, and damaged, and is mended by this copy; absent: no.
    PublishResult.isNew	Whether it was not there before.
    PublishResult.seq	Its place in the order of commits; absent for an ephemeral one.
    PushDeviceRow.capabilities	What it wants to be woken for; empty: everything.
    PushDeviceRow.device	What its owner calls it.
    PushDeviceRow.expiresAt	Seconds since 1970.
    PushDeviceRow.isReadable	Whether its token can be opened; else nothing is sent to it until it registers again.
    PushDeviceRow.isSealed	Whether what it is sent is sealed for it, so that no platform can read it; absent in answers of older relays.
    PushDeviceRow.isVerified	Whether its owner has shown that the token is his.
    PushDeviceRow.owner	The key that registered it, as its realm writes keys.
    PushDeviceRow.platform	`ios`, `android` or `webpush`.
    PushDeviceRow.registeredAt	Seconds since 1970.
    PushDeviceRow.relayID	What this relay calls it.
    PushDevices.limit	Most wanted, from 1 to 10,000; 100 unless said otherwise.
    PushDevices.owner	Only this key's: z-base-32, hexadecimal or `npub`.
    PushRekeyed.changed	Tokens that are under the newest key now and were not before.
    PushRekeyed.keys	Keys in the ring.
    PushRekeyed.remaining	Tokens that are under an older key still, whose lines must stay.
    PushRekeyed.unreadable	Rows that no key opens; they stay.
    PushSend.owner	Whose devices: z-base-32, hexadecimal or `npub`.
    PushSend.type	The wake's type.
    PushSend.waitMilliseconds	For how long the answer waits for what platforms say, in milliseconds; absent: not at all. More than 20000 is that.
    PushSent.Outcome.advice	What to look at because of that.
    PushSent.Outcome.device	What its owner calls the device.
    PushSent.Outcome.platform	`ios`, `android` or `webpush`.
    PushSent.Outcome.reason	The platform's word, where it did not take it, or why it was not asked.
    PushSent.Outcome.state	`delivered`: the platform has taken it; `refused`: it is given up; `waiting`: it is tried until it expires; `off`: its platform is not configured, and it waits for that.
    PushSent.devices	How many devices are to be woken.
    PushSent.outcomes	What became of it so far, device by device; absent where that was not waited for.
    PushSent.wake	32 hexadecimal digits.
    PushSettings.addressRegistrationsHour	Registrations from one address in an hour.
    PushSettings.admission	Who may wake owners that have set no policy.
    PushSettings.apnsEnvironment	Which of Apple's services is used.
    PushSettings.apnsKeyFile	The file of Apple's key; "" for none, and no APNs.
    PushSettings.apnsKeyID	The key's ten characters.
    PushSettings.apnsTeamID	The team's ten characters.
    PushSettings.apnsTopic	The app's bundle identifier.
    PushSettings.apnsURL	Another address of APNs; "" for Apple's.
    PushSettings.audience	The audience that signatures name; "" for none.
    PushSettings.caFile	A file of authorities that are trusted beside the system's; "" for none.
    PushSettings.certificateFile	The certificate chain, in PEM; "" for none.
    PushSettings.connectionsMaximum	Most connections.
    PushSettings.content	What platforms are shown of a wake.
    PushSettings.devicesMaximum	Devices of one owner.
    PushSettings.disclosure	Which senders learn whether a key is registered.
    PushSettings.fcmAccountFile	The file of Google's service account; "" for none, and no FCM.
    PushSettings.fcmURL	Another address of FCM; "" for Google's.
    PushSettings.globalMinute	Requests of all in a minute.
    PushSettings.keyFile	The certificate's key, in PEM; "" when it is in the same file.
    PushSettings.keyRingFile	The file of the keys that tokens are encrypted under; "" for one beside the ledger.
    PushSettings.listen	Addresses to listen at.
    PushSettings.nostrAgeMilliseconds	The age of the oldest event that wakes a device.
    PushSettings.nostrKeysMaximum	Most Nostr keys with devices.
    PushSettings.nostrOwners	Nostr keys that may register beside the accounts; npub or hexadecimal.
    PushSettings.nostrPauseMilliseconds	The pause between two wakes of a device for events.
    PushSettings.nostrRegistration	Which Nostr keys may register devices.
    PushSettings.nostrRelays	Whether relays are asked for what the keys are woken for.
    PushSettings.origins	Origins whose pages may ask; `*` for all.
    PushSettings.prefixMinute	Requests from one address, or one /64, in a minute.
    PushSettings.prefixedPaths	Whether a signature over the requested path, `/v1/wake`, is valid too, beside one over `/wake`.
    PushSettings.publicURL	The URL that Nostr keys sign (NIP-98); "" when they cannot register.
    PushSettings.recipientHour	Wakes to one recipient in an hour.
    PushSettings.registrationsHour	Registrations of one owner in an hour.
    PushSettings.senderHour	Wakes of one sender in an hour.
    PushSettings.senderMinute	Wakes of one sender in a minute.
    PushSettings.strangersHour	Wakes of strangers to one recipient in an hour.
    PushSettings.trustedProxies	Addresses of proxies whose `X-Forwarded-For` is believed, as `127.0.0.1` or `10.0.0.0/8`.
    PushSettings.versionOne	What becomes of signatures without an audience.
    PushSettings.webPush	Whether devices of Web Push are served.
    PushSettings.webPushContact	The operator's `mailto:` or `https:` for Web Push (RFC 8292); "" for none.
    PushSettings.webPushNeighbours	Whether services of Web Push may be on this machine's networks.
    PushStatus.Events.devices	Devices that were registered with a Nostr key.
    PushStatus.Events.dismissed	Events that woke nobody, by why: `old`, `muted`, `off`, `own`, `unrelated`, `crowd`, `malformed`.
    PushStatus.Events.keys	Keys whose events are looked at.
    PushStatus.Events.state	`idle`: there are no such devices; `following`; `away`: the event store does not answer.
    PushStatus.Events.wakes	Wakes since the ledger was made; those among accepted.
    PushStatus.Events.waking	Events that woke somebody, alone or with others.
    PushStatus.Platform.advice	What to look at because of reason, a question or an order; absent where there is nothing.
    PushStatus.Platform.againSeconds	In how many seconds it is tried again when it is away; absent: with the next wake.
    PushStatus.Platform.delivered	Pushes that the service took.
    PushStatus.Platform.expired	Pushes that the service had not taken when the time of their wake was over.
    PushStatus.Platform.failed	Pushes given up: the service refused the token, or did not understand them.
    PushStatus.Platform.inFlight	Pushes that were sent and not answered yet.
    PushStatus.Platform.name	`ios`, `android` or `webpush`.
    PushStatus.Platform.pruned	Devices forgotten since the service knows their token no more.
    PushStatus.Platform.reason	Why it is off or away; of one that is ready, what it has against the last push that it refused.
    PushStatus.Platform.repeated	Pushes that were sent again.
    PushStatus.Platform.state	`off`: not configured; `ready`; `away`: its service does not answer, or refuses; tried again.
    PushStatus.accepted	Wakes that were accepted since the ledger was made.
    PushStatus.addresses	Where it listens.
    PushStatus.certificateFault	Why the certificate in the files is not taken, and the one before it stays in use; absent: it is taken.
    PushStatus.countedSince	Since when is counted, seconds since 1970.
    PushStatus.devices	Devices that are registered.
    PushStatus.dropped	Wakes of strangers that were dropped in silence.
    PushStatus.ended	Wakes that have ended, by how: `delivered`, `expired`, `coalesced`, `undeliverable`.
    PushStatus.events	Wakes for events of Nostr; absent where no key may register for them.
    PushStatus.platforms	The platforms.
    PushStatus.refused	Requests that were refused, by the error's code.
    PushStatus.underOlderKeys	Tokens that open under an older key; of devices whose time is over, too, until they are swept.
    PushStatus.unreadable	Rows that no key opens.
    PushStatus.waiting	Wakes that are on their way.
    PushStatus.webPushFault	What is wrong with the key of Web Push: it is another than devices are subscribed under; absent: nothing.
    QueriedEvents.bytes	The event, or the page.
    QueriedEvents.isRaw	Whether it is a page.
    ReconcileClose.session	The session's number.
    ReconcileEnd.records	Events that were reconciled.
    ReconcileMessage.bytes	The message.
    ReconcileMessage.session	The session's number, from 1.
    ReconcileOpen.filter	A NIP-01 filter. Its `limit`, if there is one, takes the newest.
    ReconcileOpen.message	The first message, as hexadecimal digits.
    ReconcileOpen.recipients	Whose gift wraps may be reconciled: see RecipientList.
    RecordProgress.isRecording	Whether frames are being recorded; false while the worker's next start is awaited.
    RecordProgress.path	The file.
    RecordRequest.bytes	The size that the file never passes; absent: 64 MiB. Kept between 256 KiB and 256 MiB.
    RecordRequest.ends	True ends the worker's recording that is under way; all else is left out then.
    RecordRequest.milliseconds	How long it goes on, counted from its first frame; absent: until somebody ends it.
    RecordRequest.path	The file to be made, an absolute path at which nothing is yet; absent: one in the state directory.
    RecordRequest.restart	Whether the worker is restarted for it, so that the recording begins with HELLO.
    RecordRequest.worker	The worker's name.
    RecordResult.bytes	Its size.
    RecordResult.framesFromWorker	Frames from the worker in it.
    RecordResult.framesMissing	Frames that are missing because the disk did not take them in time.
    RecordResult.framesToWorker	Frames to the worker in it.
    RecordResult.isReplayable	Whether it begins with HELLO and has every frame since: whether it can be replayed.
    RecordResult.path	The file.
    RecordResult.reason	Why it ended: `asked`, `time`, `size`, `connection` or `disk`.
    RecordResult.sentence	The same in a sentence.
    RecordResult.worker	The worker.
    Refusal.code	The stable word.
    Refusal.message	A sentence: what happened, where, what to do.
    Refusal.outcome	Whether the work was begun. Absent in FATAL.
    Refusal.reason	Which cause of the code it is; absent where the code says all.
    Refusal.retryAfterMilliseconds	When asking again makes sense, if that is known.
    RefusalCode.bad-length	A length field out of bounds.
    RefusalCode.bad-payload	A payload that is not what its type demands.
    RefusalCode.bad-request	The arguments make no sense.
    RefusalCode.bad-token	A token that was never issued, was used, or has expired.
    RefusalCode.bad-version	A version byte other than 1.
    RefusalCode.cancelled	The caller gave up.
    RefusalCode.deleted	Its author has deleted it (NIP-09, NIP-62).
    RefusalCode.denied	The access table does not allow it.
    RefusalCode.disk-full	The store has no room on its disk: nothing was lost, and asking again later makes sense.
    RefusalCode.expired	The time to live ran out.
    RefusalCode.expired-event	Its own expiration has passed (NIP-40).
    RefusalCode.failed	The world failed in the worker; the message says how.
    RefusalCode.forbidden	The caller's role may not have this signed.
    RefusalCode.forged-source	A header field that a peer must leave at zero, such as `source`.
    RefusalCode.full	No seat, or a bound of this kind is reached.
    RefusalCode.gone	The endpoint is not there any more.
    RefusalCode.id-not-increasing	An id that is not greater than the last one.
    RefusalCode.idle	No message has come for too long.
    RefusalCode.invalid	What was to be stored is no valid event.
    RefusalCode.invoice-refused	The invoice is not in order, or beyond a bound.
    RefusalCode.job-over	The job has ended, and cannot be called off.
    RefusalCode.locked	The account is locked, and its passphrase did not come in time.
    RefusalCode.missed	More came than was kept for this observer; observing anew begins with what is stored.
    RefusalCode.name-taken	The name is taken by a running worker.
    RefusalCode.no-credit	A frame sent beyond the credit granted.
    RefusalCode.no-information	The relay's server answers, and has no information document.
    RefusalCode.no-relays	There is no relay to send it to.
    RefusalCode.no-such-account	No such account.
    RefusalCode.no-such-event	The event is not stored.
    RefusalCode.no-such-job	No job of this id, key or event.
    RefusalCode.no-such-observe	Nothing was observed under this id.
    RefusalCode.no-such-relay	The connector does not dial this relay.
    RefusalCode.no-such-session	The caller has no session of this number.
    RefusalCode.no-such-version	The wishes are changes of a version that the connector does not have.
    RefusalCode.not-permitted	Another user's process, or a descendant of a managed worker.
    RefusalCode.not-reading	The peer does not read what it asked for.
    RefusalCode.nothing-to-pay	Nobody asks for a payment.
    RefusalCode.out-of-turn	A frame out of turn: before HELLO, a second HELLO, READY twice.
    RefusalCode.own-relay	The relay is this Roost's own: see OwnAddresses.
    RefusalCode.provider-needed	Several providers ask for a payment; one is to be named.
    RefusalCode.quarantined	Delivered three times and the worker died each time: kept as a dead letter.
    RefusalCode.rate-limited	The caller's role has used up what it may have done at a time; `retryAfterMilliseconds` says when there is more.
    RefusalCode.rawValue	The word itself.
    RefusalCode.replaced	The same caller observes under the same id anew.
    RefusalCode.sealed-for-another	A sealed secret was meant for an earlier process of the signer.
    RefusalCode.superseded	A newer event is in its place (NIP-01).
    RefusalCode.too-many	The filter matches more events than one session may have.
    RefusalCode.too-slow	No HELLO within the deadline, or a frame that stayed half-sent.
    RefusalCode.unavailable	Nobody serves it now, and no restart is under way.
    RefusalCode.unknown-flags	A flag bit without a meaning.
    RefusalCode.unknown-method	No such method, topic or role in the registry.
    RefusalCode.unknown-type	An unknown frame type, or one this peer may not send.
    RefusalCode.worker-died	The worker died with the work in hand.
    RefusalCode.would-replace	The event would take entries from a list, or it is not known whether it would, and nobody has said that this is meant.
    RefusalCode.wrong-passphrase	The passphrase does not open the key.
    RefusalReason.rawValue	The word itself.
    RelayDesire.base	The state these are changes of; absent: `changed` is all that is wanted.
    RelayDesire.changed	New ones, and those that are other than before, whole.
    RelayDesire.generation	The planner's life.
    RelayDesire.removed	Keys of what is not wanted any more.
    RelayDesire.version	The number of this state, above the one before.
    RelayDesireResult.version	What the connector has now.
    RelayInformationRequest.isForeign	The relay was named by other people, in a list or a hint: it is not asked at a private address.
    RelayInformationRequest.relay	The relay.
    RelayInformationResult.document	What was understood, under the names of NIP-11.
    RelayInformationResult.dropped	What was dropped because it is not what NIP-11 says, a sentence each: `supported_nips is not a list of numbers`.
    RelayInformationResult.fetchedAt	When it was fetched, seconds since 1970.
    RelayInformationResult.relay	Canonical URL.
    RelayPublish.account	Who shows himself if the relay asks for it, 64 hexadecimal digits; nobody unless said.
    RelayPublish.event	The signed event, as JSON.
    RelayPublish.isForeign	The relay was named by other people, in a list or a hint: it is not dialled at a private address.
    RelayPublish.isProtected	The event is sent only on a connection on which `account` has shown himself (NIP-70). Needs `account`.
    RelayPublish.relay	The relay; may be left out when the connector has exactly one.
    RelayPublishResult.id	The event's id.
    RelayPublishResult.isAccepted	Whether the relay took it.
    RelayPublishResult.message	The relay's words, with their standard prefix.
    RelayPublishResult.relay	The relay that answered.
    RelayRemark.at	When last, seconds since 1970.
    RelayRemark.count	How often, since the connector began to speak with it.
    RelayRemark.kind	What it is.
    RelayRemark.limit	With `capped`: at how many events.
    RelayRemark.text	The relay's own words, the latest, without control characters, at most 120; empty where it gave none. Nothing of it is proven.
    RelayReport.dialsOthers	Whether it dials relays that no group has (`ephemeral = true`); absent: as before, and in a whole part not.
    RelayReport.generation	The generation of the wishes that the connector has; absent before the first.
    RelayReport.isWhole	All there is; else what has changed since the part before.
    RelayReport.relays	Relays.
    RelayReport.requests	What became of the wishes.
    RelayReport.version	Their version.
    RelayRequest.filters	NIP-01 filters, as JSON; absent: one filter that matches everything.
    RelayRequest.limit	Most events wanted, from 0; the connector ends the subscription then.
    RelayRequest.relay	The relay; may be left out when the connector has exactly one.
    RelayRequestResult.events	Events passed on.
    RelayRequestResult.isComplete	Whether the relay said EOSE; false when `limit` was reached first.
    RelayRequestResult.relay	The relay that was asked.
    RelayRetry.relay	The relay.
    RelayStateWord.rawValue	The word itself.
    RelayStates.Relay.accepted	Events that the relay took.
    RelayStates.Relay.authenticated	Accounts that have shown themselves on this connection (NIP-42), 64 hexadecimal digits each.
    RelayStates.Relay.bytes	Bytes of those messages.
    RelayStates.Relay.connections	Connections made.
    RelayStates.Relay.events	Events received.
    RelayStates.Relay.failures	Attempts that failed.
    RelayStates.Relay.isConfigured	Whether `supervisor.conf` names it; else a caller has.
    RelayStates.Relay.latencyMilliseconds	Milliseconds from the last REQ to its EOSE, or EVENT to its OK.
    RelayStates.Relay.messages	Messages received, and their bytes.
    RelayStates.Relay.openMilliseconds	Milliseconds it was open, all connections together.
    RelayStates.Relay.openSince	Seconds since 1970; while it is open.
    RelayStates.Relay.reads	Whether observes are to be asked there without being told so.
    RelayStates.Relay.reason	Why it is not connected, if it is not.
    RelayStates.Relay.refusals	Requests and events that it refused.
    RelayStates.Relay.relay	Canonical URL.
    RelayStates.Relay.remarks	What it has said or done that its owner may want to know, one of a kind at most; absent where there is nothing, and in RelayReport and `relay.states`.
    RelayStates.Relay.state	How its connection is.
    RelayStates.Relay.writes	Whether events are to be published there without being told so.
    RelayStates.relays	All relays of the connector.
    ReloadRequest.dryRun	Only tell what would happen.
    ReloadResult.changes	What differs, a paragraph a part; empty when nothing does.
    ReloadResult.isApplied	Whether it is in force.
    ReloadResult.remarks	What a reload does not do though somebody may expect it, a line each: workers that stay failed; nil if there are none.
    ReloadResult.warnings	What is allowed in the file and yet hardly meant, a line each, as `roostd --check` tells it; nil if nothing is.
    ReplacedList.account	The author's account, if it is one.
    ReplacedList.after	Entries of the version that counts now, as far as it was published here.
    ReplacedList.author	Its author, 64 hexadecimal digits.
    ReplacedList.before	Its entries.
    ReplacedList.event	The event, to who asks for this one.
    ReplacedList.id	The event's id.
    ReplacedList.identifier	The identifier of a set (its tag `d`); empty for other lists.
    ReplacedList.kind	Its kind.
    ReplacedList.replacedAt	When another version took its place, seconds since 1970.
    RequestReport.events	Events it has brought since it was wished.
    RequestReport.key	Its key.
    RequestReport.reason	Why it waits or was refused; of one that is asked, why its EOSE is not waited for any more.
    RequestReport.relay	The relay.
    RequestReport.state	How far it is.
    RequestReport.storedAt	When EOSE came, seconds since 1970; with `stored`, and kept after a disconnection.
    Role.client	Applications, scripts and the `roost` command.
    Role.dvm-provider	Serves jobs.
    Role.dvm-tracker	Keeps the ledger of jobs.
    Role.event-store	Verifies and keeps events.
    Role.local-relay	A relay on localhost.
    Role.name	The name in HELLO and in `supervisor.conf`.
    Role.number	The number in a header, 0 … 127.
    Role.outbox-planner	Decides which relay is asked and written.
    Role.push-relay	Wakes phones.
    Role.relay-connector	Talks to relays.
    Role.signer	Holds keys.
    Role.supervisor	The supervisor and hub itself.
    Route.Stop.connector	The worker that holds the connection; absent when none dials it.
    Route.Stop.people	For whom, 64 hexadecimal digits each: authors asked there, or people who are to find it there; empty: for all.
    Route.Stop.relay	The relay.
    Route.Stop.state	How the connection is, as in `relay.list`.
    Route.Stop.why	Why this one: each reason once.
    Route.problem	Why there is none, if so.
    Route.skipped	Relays that would have been meant and are not used, and why: blocked, private address, budget.
    Route.stops	The relays.
    SealedSecret.key	The public key of the sender's for this message, 64 hexadecimal digits.
    SealedSecret.payload	The NIP-44 payload.
    SeenResult.Relay.firstSeenAt	When it first came from there, seconds since 1970.
    SeenResult.Relay.relay	Its URL.
    SeenResult.id	The event's id.
    SeenResult.relays	The relays, the first first.
    SeenResult.seq	Its place in the order of commits.
    ServedJob.customer	Whose it is, 64 hexadecimal digits.
    ServedJob.endedAt	When it ended, seconds since 1970.
    ServedJob.kind	The kind of the request.
    ServedJob.reason	Why it has failed.
    ServedJob.request	The request event's id.
    ServedJob.result	The result event's id.
    ServedJob.state	How far it is.
    ServedJob.takenAt	When it was taken up, seconds since 1970.
    ServedJobs.limit	Most wanted, from 0.
    ServingStatus.Service.answered	Answered with a result.
    ServingStatus.Service.failed	Ended with an error.
    ServingStatus.Service.kind	The kind of its requests.
    ServingStatus.Service.price	What it costs, in millisatoshi.
    ServingStatus.Service.program	`count`, `search`, or the program's path.
    ServingStatus.Service.running	Running now.
    ServingStatus.Service.taken	Requests taken up.
    ServingStatus.countedSince	Since when is counted, seconds since 1970.
    ServingStatus.isOnNetwork	Whether relays are asked for requests, and answers sent to them.
    ServingStatus.passedOver	Requests that were not taken up: of others, too large, unreadable, expired. Also those for which there was no room when they came, whether they were taken up later or not.
    ServingStatus.provider	Who answers, 64 hexadecimal digits; absent while the signer has not said.
    ServingStatus.services	What is served, by kind.
    ServingStatus.unpaid	Requests with a bill that was not paid yet.
    ServingStatus.waiting	Requests that wait for their turn.
    SignedEvent.bytes	Its bytes.
    SignedEvent.isRaw	Whether the sender has marked them RAW, which no event is.
    SignerAccount.createdAt	When the key came here, in seconds since 1970.
    SignerAccount.isEncrypted	Whether the stored key is encrypted with a passphrase (NIP-49).
    SignerAccount.name	Lower case letters, digits, `-` and `_`, at most 32.
    SignerAccount.npub	The same as people write it.
    SignerAccount.origin	Where the key is.
    SignerAccount.publicKey	64 hexadecimal digits.
    SignerAccount.state	Whether it can be used now.
    SignerAccounts.accounts	By name.
    SignerAccounts.isMemoryLocked	Whether keys are locked into memory, so that they never stand on a swap partition.
    SignerAccounts.problems	Key files that were refused, in sentences that say what to do.
    SignerAccounts.refused	Those of them that would be accounts, and are none.
    SignerAccounts.sealingKey	For SealedSecret: the public key of this process of the signer, 64 hexadecimal digits.
    SignerAccounts.waiting	Requests that wait for an account to be unlocked.
    SignerAuthenticate.account	Who shows himself.
    SignerAuthenticate.challenge	What the relay sent, 1 … 512 bytes.
    SignerAuthenticate.relay	The relay, in its canonical spelling.
    SignerChanges.accounts	By name.
    SignerCipher.account	Whose key.
    SignerCipher.event	In place of text, for decrypting: the peer's event whose content it is, whole and signed. A worker that may read some kinds only shows so that it is one of them.
    SignerCipher.peer	The other's public key: 64 hexadecimal digits or `npub`.
    SignerCipher.text	What is to be encrypted or decrypted. Most bytes: what fits into a frame and what the NIP allows.
    SignerGenerate.name	The account's name.
    SignerGenerate.passphrase	Encrypts the stored key; without one it is stored as it is.
    SignerImport.name	The account's name.
    SignerImport.passphrase	Of an `ncryptsec` the passphrase that opens it, and which it keeps; else the one to store the key under, if any.
    SignerImport.secret	`nsec1…`, `ncryptsec1…` or 64 hexadecimal digits.
    SignerLock.account	The account; all encrypted ones if left out.
    SignerPassphrase.account	The account; may be left out while there is one.
    SignerPassphrase.new	The passphrase it is to be under; absent: it is stored as it is.
    SignerPassphrase.present	The passphrase it is under, also while it is unlocked; absent for a key that is stored as it is.
    SignerRefusedKey.account	The account that it would be.
    SignerRefusedKey.place	`a key file alice.key`, `a credential roost.key.alice`.
    SignerRefusedKey.reason	Why, as a sentence's end.
    SignerRefusedKey.remedy	What to do about it.
    SignerRemove.name	The account's name.
    SignerRemove.publicKey	Its public key, so that nobody removes another key than the one he means.
    SignerSettings.signKinds	Which kinds a role of the file's own may have signed: `role:kind` or `role:kind-kind`, and `@account` behind it.
    SignerSettings.workerAccounts	As which account each provider of jobs acts, by its name; from roostd, see WorkerAccounts.
    SignerSign.account	Who signs.
    SignerSign.allowSecrets	Whether `nsec1…` or `ncryptsec1…` may stand in it; false unless said.
    SignerSign.deleted	Of a deletion (NIP-09) by a worker that may delete some kinds only: the events that its `e` tags name, whole and signed, so that their kinds are known; 16 at most. Others need not show them.
    SignerSign.event	`kind`, and where they matter `content`, `tags`, `created_at` (else now) and `pubkey` (then it must be the account's). Any other member is refused, and so are tags `p`, `e`, `a`, `q` that refer to nothing.
    SignerSigned.event	The event with id and signature.
    SignerText.text	The text.
    SignerUnlock.account	The account; may be left out while one is locked.
    SignerUnlock.passphrase	Its passphrase.
    SignerUnwrap.account	For whom it is; else the account that a `p` tag of it names.
    SignerUnwrap.wrap	The gift wrap.
    SignerUnwrapped.author	Who speaks, proven by the seal's signature.
    SignerUnwrapped.recipient	The account it was for, 64 hexadecimal digits.
    SignerUnwrapped.rumor	What was said, with its id and without signature.
    SignerUnwrapped.warnings	What is unusual about it, in sentences' ends.
    SignerWrap.account	Who speaks.
    SignerWrap.allowSecrets	Whether `nsec1…` or `ncryptsec1…` may stand in it; false unless said.
    SignerWrap.expiration	When relays may drop it, in seconds since 1970 (NIP-40).
    SignerWrap.isEphemeral	Whether relays are not to store it (kind 21059).
    SignerWrap.recipient	Who is to read it: 64 hexadecimal digits or `npub`.
    SignerWrap.relayHint	A relay of the recipient's for the `p` tag.
    SignerWrap.rumor	An event as for `signer.sign`; it is not signed.
    SignerWrapped.rumor	The rumor with its id, to be kept by the sender.
    SignerWrapped.wrap	The gift wrap, to be sent to the recipient's relays.
    SigningRule.account	The account that it holds for, as it is written; nil: every one.
    SigningRule.kinds	The kinds, without 22242.
    SigningRule.role	The role's name; never one of Roost's own.
    StatusRequest.memory	Also measure proportional memory, which costs a walk through each process's pages.
    StopCommand.drainMilliseconds	How long it may finish what it has; absent: as configured.
    StopCommand.worker	The worker's name.
    StoreAcknowledge.id	The caller's name for the observation.
    StoreAcknowledge.seq	The last seq that the caller has dealt with; one lower than before changes nothing.
    StoreCount.count	Events.
    StoreCount.isComplete	Of `store.query`: whether all that is stored and matches was sent; false when a limit cut it off and there is more. Absent when that is not known without looking further.
    StoreCount.unsearched	After a search: how many of the last seqs it has not looked at, because their words are not indexed yet; absent when none.
    StoreCoverage.filters	The filters; at most filterMaximum. Their times and limits do not count for intervals.
    StoreCoverage.relays	Of these relays; of all when absent.
    StoreFetched.at	When they were asked, seconds since 1970; now unless said.
    StoreFetched.filters	The filters of an ActiveObserve.
    StoreFetched.relays	Its relays.
    StoreObserve.afterSeq	The last seq that the caller has.
    StoreObserve.exclusiveRelays	Only `relays` are asked, and only events count that were seen there.
    StoreObserve.filters	NIP-01 filters; at most 64.
    StoreObserve.id	The caller's own name for this observation, 1 to 64 bytes. Observed again under the same name it goes on after the seq that was last told by `store.acknowledge` or as `afterSeq`.
    StoreObserve.maxAge	Seconds: the network is not asked if it was for the same filters no longer ago. 0 unless said: it is always asked. Counts with `cache-with-network`.
    StoreObserve.pages	Whether events come in pages.
    StoreObserve.policy	Where events come from; `cache-with-network` unless said.
    StoreObserve.recipients	Whose gift wraps may be given: see RecipientList.
    StoreObserve.relays	Relays to be asked besides those that are planned; at most 32.
    StoreQuery.filters	NIP-01 filters; each may have its own `limit`.
    StoreQuery.limit	Most events wanted of all filters together, from 0.
    StoreQuery.pages	Whether parts are pages; `store.count` has none.
    StoreQuery.recipients	Whose gift wraps may be given and counted: see RecipientList.
    StoreSeen.id	The event's id, 64 hexadecimal digits.
    StoreSettings.foreignLimitBytes	Bytes that the events of strangers may have together.
    StoreSettings.keepAuthors	Public keys of authors whose events are never removed; npub or hexadecimal.
    StoreSettings.recentEventsBytes	Bytes of recent events kept in memory.
    StoreSettings.sampleFloor	Percent that are checked at least, 1 to 100.
    StoreSettings.sampleRate	Percent of their events that are checked to begin with, 1 to 100.
    StoreSettings.sampleRelays	The URLs of relays of which a sample is enough.
    StoreSettings.sizeLimitBytes	Bytes in use above which events are removed; 0 for no limit.
    StoreSettings.verification	Which signatures are checked.
    StoreStatus.Relay.forged	Events that are not what an author signed.
    StoreStatus.Relay.isDistrusted	Whether a sample was to do for it, and does no more.
    StoreStatus.Relay.relay	Its URL.
    StoreStatus.Relay.valid	Signatures checked and found good.
    StoreStatus.Rescue.aside	The damaged file. Without it no more is told of the rescue.
    StoreStatus.Rescue.at	When, seconds since 1970.
    StoreStatus.Rescue.lost	Events lost; absent when the damaged file did not say how many it had.
    StoreStatus.Rescue.saved	Events in the new database.
    StoreStatus.SeqRange.first	The first.
    StoreStatus.SeqRange.last	The last.
    StoreStatus.bytes	Bytes of the database file and its log.
    StoreStatus.damaged	Events that were found not to be what their ids say, and were removed. Told for a week; absent: none.
    StoreStatus.duplicates	Events that needed no check, being known.
    StoreStatus.events	Events stored.
    StoreStatus.evicted	Events removed to make room.
    StoreStatus.fault	Why nothing can be written at present, if so.
    StoreStatus.foreignBytes	Bytes of the events that clients of the local relay handed in and no account signed, as `foreign-limit` counts them; absent: none.
    StoreStatus.invalid	Events refused as invalid.
    StoreStatus.isFull	True when the limit is reached and nothing is left that may be removed.
    StoreStatus.limitBytes	The limit; absent without one.
    StoreStatus.lost	Events that were committed and that the database had not any more at a start: lost to damage or with the power, or the file was removed or replaced. Told for a week; absent when none is known.
    StoreStatus.observers	Observations under way.
    StoreStatus.path	The database file.
    StoreStatus.relays	The relays that sent most forgeries, the worst first; 8 at most.
    StoreStatus.rescued	The last rescue of a damaged database, while the damaged file is beside it.
    StoreStatus.seq	The last seq.
    StoreStatus.transactions	Transactions committed.
    StoreStatus.unchecked	Events of sampled relays that were taken without a look at their signatures.
    StoreStatus.unsearched	Seqs whose words are not indexed yet (NIP-50): they are when there is nothing else to do, or when somebody searches.
    StoreStatus.usedBytes	Bytes of the database in use, which is what `size-limit` is about: the file keeps room that events have left.
    StoreStatus.verified	Signatures checked.
    StoreStatus.waiting	Events waiting, by lane: local, live, bulk.
    StoredEnd.isComplete	Whether all that is stored and matches was sent; false when a limit cut it off and there is more. Absent when that is not known without looking further, and to whoever resumes.
    StoredEnd.isStoredEnd	Always true: tells this part from an event.
    StoredEnd.seq	All up to this seq has been sent. Whoever comes back says it as `afterSeq`.
    StoredEnd.unsearched	With a search among the filters: how many of the last seqs it has not looked at; absent when none. What comes from now on is not missed.
    Stream.declaration	What is known of it without its types.
    SupervisorEvent.from	The state it left; `absent` for a worker started by hand, in no configuration, that has joined.
    SupervisorEvent.sentence	Why.
    SupervisorEvent.time	Wall time, RFC 3339.
    SupervisorEvent.to	The state it is in; `absent` when such a worker has left; that of from when what is told changed no state, such as that a message which killed the worker was set aside.
    SupervisorEvent.worker	The worker.
    SupervisorStatus.clients	Clients connected now.
    SupervisorStatus.configuration	The configuration file.
    SupervisorStatus.counters	Counters of the hub, by name; they only grow.
    SupervisorStatus.deadLetters	Dead letters kept.
    SupervisorStatus.keptBytes	Payload bytes kept in mailboxes and with unanswered requests.
    SupervisorStatus.pid	Process id of roostd.
    SupervisorStatus.residentBytes	Resident memory of roostd, in bytes.
    SupervisorStatus.socket	The socket.
    SupervisorStatus.uptimeMilliseconds	Milliseconds since roostd started.
    SupervisorStatus.version	Version of roostd.
    SupervisorStatus.workers	The workers, in the order of the file.
    SupervisorVersion.protocolVersion	The version of the protocol, as in each frame.
    SupervisorVersion.version	The version of roostd, such as `1.2.3`.
    Topic.declaration	What is known of it without its type.
    TrackerSettings.answerDeadlineMilliseconds	Until a provider must have answered.
    TrackerSettings.dayMaximum	Most that may be approved without a person in a day.
    TrackerSettings.decisionDeadlineMilliseconds	Until the customer must have decided about a bill.
    TrackerSettings.deliveryDeadlineMilliseconds	Until the result must be there once it was paid.
    TrackerSettings.jobsMaximum	Jobs under way; one more is refused.
    TrackerSettings.providerMaximum	Most of that for one provider.
    TrackerSettings.publishDeadlineMilliseconds	Until a relay must have taken the request.
    TrackerSettings.resultDeadlineMilliseconds	Until the result must be there once a provider has begun.
    TrackerSettings.totalDeadlineMilliseconds	Until the job must have ended.
    TrackingStatus.answers	Events that were answers to open jobs, since the start.
    TrackingStatus.approvedToday	Millisatoshi approved in the last 24 hours.
    TrackingStatus.diagnostics	What was odd about answers, and why they do not count, by word, with how often since the start.
    TrackingStatus.fault	Why nothing can be accepted at present, if so.
    TrackingStatus.jobs	Jobs by state.
    TrackingStatus.openPayments	Payments that are asked for now, and that nobody has decided about.
    TrackingStatus.payments	Payments by the state that they have come to since the start (PaymentState).
    TrackingStatus.results	Results among them that count, since the start.
    TrackingStatus.seq	Up to this seq the store's events were looked at.
    TrackingStatus.unpaid	Payments of open jobs that are approved, and of which nobody has shown that they are paid.
    TrackingStatus.unseen	Open jobs that are for relays, and of which no relay has a request: none is known for it.
    WakeType.Words.body	The second.
    WakeType.Words.title	The first.
    WakeType.isCollapsed	Whether the next of its pushes takes the place of one that was not brought.
    WakeType.name	What it is called; see isName(_:).
    WakeType.timeToLiveSeconds	Seconds from acceptance until a wake is worth nothing.
    WakeType.words	What is shown; nil: nothing, and it comes when it suits the device.
    WhyRequest.worker	The worker's name.
    WhyResult.complaint	What it said went wrong, of one that has failed or waits for its next start; nil where it said nothing since it was ready the last time.
    WhyResult.lastLines	Its last log lines.
    WhyResult.sentences	What there is to say, a sentence each.
    WhyResult.state	The state it is in.
    WhyResult.worker	The worker.
    WorkerCommand.worker	The worker's name.
    WorkerCommandResult.sentence	A sentence about it.
    WorkerCommandResult.state	The state it is in now.
    WorkerCommandResult.worker	The worker's name.
    WorkerStateWord.rawValue	The word itself.
    WorkerStatus.busyMilliseconds	Milliseconds since its work last moved, while it owes any.
    WorkerStatus.droppedLogLines	Log lines dropped because it wrote too fast.
    WorkerStatus.generation	Which start of it this is.
    WorkerStatus.inHand	Messages it has in hand.
    WorkerStatus.lastExit	How the last life ended, in words.
    WorkerStatus.mailboxFrames	Frames that wait for it.
    WorkerStatus.name	Its name in `supervisor.conf`.
    WorkerStatus.nextAttemptMilliseconds	Milliseconds until the next attempt, while one is planned.
    WorkerStatus.pid	Process id, while it runs.
    WorkerStatus.proportionalBytes	Proportional memory in bytes, when asked for.
    WorkerStatus.residentBytes	Resident memory in bytes.
    WorkerStatus.restartLimit	The breaker's limit.
    WorkerStatus.restarts	Restarts that the breaker counts now, and how many it allows.
    WorkerStatus.role	Its role.
    WorkerStatus.sandbox	The sandbox it achieved.
    WorkerStatus.sinceMilliseconds	Milliseconds in this state.
    WorkerStatus.state	The state it is in.
    WorkerStatus.text	Its own line about what it does.
    """#
}
