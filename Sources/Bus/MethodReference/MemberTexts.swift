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
    AccessTable.CustomRole.callableBy	Roles that may call the methods that it serves.
    AccessTable.CustomRole.mayCall	Methods and topics of other roles that it may call or subscribe to: full names, or `prefix.*`.
    AccessTable.CustomRole.name	The role's name, which must not be that of a built-in role.
    AccessTable.CustomRole.serves	Methods that it may serve: full names, or `prefix.*`.
    AccessTable.ServeProblem.method	The method's name.
    AccessTable.ServeProblem.reason	Why it may not.
    AccessTable.ServeProblem.role	The peer's role.
    AccountForget.account	The account, 64 hexadecimal digits.
    AccountForget.keep	NIP-01 filters: events that one of them matches stay. At most keepMaximum.
    AccountForget.others	The other accounts of persons, 64 hexadecimal digits each: what is also theirs stays. At most 256.
    AccountForgotten.Part.count	How many were removed.
    AccountForgotten.Part.what	What they are, in plain words for any number: `events that it wrote`.
    AccountForgotten.gone	What this call has removed; kinds of which nothing was there are left out.
    AccountForgotten.keep	From a mirror: the filters of its configuration, for keep.
    AccountForgotten.remark	What stays although it has to do with the account, and why, as a sentence; absent: nothing.
    ActiveObserve.exclusiveRelays	Whether only these relays are to be queried.
    ActiveObserve.filters	The filters, in canonical form.
    ActiveObserve.key	Always the same for the same filters, policy and relays: 64 hexadecimal digits.
    ActiveObserve.maxAge	The least `maxAge` of the observers, in seconds; with 0 the network is always queried.
    ActiveObserve.needsNetwork	Whether the network is to be queried now for any of the observers.
    ActiveObserve.networkLimit	The observers' `networkLimit`; absent: none.
    ActiveObserve.observers	The number of observers; never 0.
    ActiveObserve.policy	Where events come from.
    ActiveObserve.relays	Relays that the observers named, canonical and sorted.
    ActiveObserve.trace	The trace of the newest observer's request; absent: it has none.
    AttachGrant.command	A shell command line that uses it.
    AttachGrant.expiresMilliseconds	Milliseconds until the token expires.
    AttachGrant.name	The name to join under.
    AttachGrant.remark	What must be changed in the command before it can run, in a sentence.
    AttachGrant.role	The role.
    AttachGrant.socket	The socket to connect to.
    AttachGrant.token	The token, valid for one HELLO.
    AttachRequest.name	The name of the worker to replace, if it is one of `supervisor.conf`; absent: the worker of that role when there is exactly one, otherwise a new name.
    AttachRequest.role	The role to join with.
    AuthorDelivery.Relay.had	Those of them that this relay had too.
    AuthorDelivery.Relay.held	All events of that time that this relay had, also those that no other one had. Absent: not counted.
    AuthorDelivery.Relay.known	Events of that time that other relays had.
    AuthorDelivery.Relay.relay	The relay's URL.
    AuthorDelivery.Relay.seconds	For how many seconds of the time asked for it has sent all it had, of the kind for which these are most.
    AuthorDelivery.author	The author, 64 hexadecimal digits.
    AuthorDelivery.events	The author's events of that time that came from any relay; at most 2000 are looked at, the newest.
    AuthorDelivery.relays	The relays that have sent all they had for some of the time, in the order of their URLs.
    BackupHold.milliseconds	How long the writers wait for `backup.release` at most.
    BackupPart.byteCount	The size of the whole file.
    BackupPart.bytes	Bytes, after those of the part before.
    BackupRead.file	One of its files.
    BackupRead.offset	The first byte wanted.
    BackupRead.snapshot	The name of the state.
    BackupRelease.isWhole	Whether the writers have waited until now.
    BackupSettings.backupDirectory	The directory for the backups; empty: none is made.
    BackupSettings.everyMilliseconds	The time from one backup to the next.
    BackupSettings.keep	How many of its own backups it keeps.
    BackupSettings.passphraseFile	A file whose first line is the passphrase that seals the backups; empty: they are not sealed.
    BackupSettings.runAfter	A program that is started with the path of each new backup; empty: none.
    BackupSnapshot.files	The files, relative to the worker's directory.
    BackupSnapshot.snapshot	The name of the state, for the other methods.
    BackupState.snapshot	The name of the state.
    BackupStatus.Backup.byteCount	Its size in bytes.
    BackupStatus.Backup.path	The file.
    BackupStatus.Backup.time	When it was begun, seconds since 1970.
    BackupStatus.count	How many there are.
    BackupStatus.directory	The directory; absent: none is set, and no backup is made.
    BackupStatus.isMaking	Whether one is being made.
    BackupStatus.isSealed	Whether the backups are sealed.
    BackupStatus.last	The latest backup in the directory.
    BackupStatus.leftOut	Folders that the latest backup of this process has not, since their workers do not run.
    BackupStatus.nextAt	When the next one is due, seconds since 1970.
    BackupStatus.reason	Why the last attempt made none, or why the program after it failed.
    ClientStatus.mailboxFrames	Frames in its mailbox.
    ClientStatus.name	The name that it gave.
    ClientStatus.outstanding	Requests without an answer yet.
    ClientStatus.pid	Its process id, from the kernel.
    ConfiguredConnector.ephemeral	Whether the connector dials relays that belong to no group.
    ConfiguredConnector.name	The worker's name.
    ConfiguredConnector.reads	Whether the planner opens subscriptions at these relays.
    ConfiguredConnector.relays	The URLs of its relays, as they are written in `supervisor.conf`.
    ConfiguredConnector.writes	Whether the planner publishes events to these relays.
    ConnectorSettings.authenticate	Which key the relays see that ask for authentication.
    ConnectorSettings.caFile	A file of certificate authorities that are trusted in addition to the system's; "" for none.
    ConnectorSettings.connect	When the relays of the group are dialled.
    ConnectorSettings.connectTimeoutMilliseconds	How long each step of connecting may take.
    ConnectorSettings.connectors	All enabled connectors, this one among them; set by roostd, not a key of the file.
    ConnectorSettings.ephemeral	Whether it dials relays that a caller names and that belong to no group.
    ConnectorSettings.nameServer	A server of the user's own that is asked for people's names (NIP-05) instead of the servers of their domains; "" for none.
    ConnectorSettings.ownAddresses	Where the local relays of this Roost listen, which are not dialled; set by roostd, not a key of the file.
    ConnectorSettings.pagesAtOnce	The most pages of stored events that are asked for at a time at one relay, 1 to 16.
    ConnectorSettings.reads	Whether subscriptions of observations are opened at the relays of the group.
    ConnectorSettings.relays	The URLs of the group's relays.
    ConnectorSettings.requestTimeoutMilliseconds	How long a relay may leave a request without an answer.
    ConnectorSettings.writes	Whether events are published to the relays of the group.
    CopyOutcomes.Outcome.id	The event's id.
    CopyOutcomes.Outcome.message	The relay's words, or why it was not sent; at most 256 bytes.
    CopyOutcomes.Outcome.state	How it ended.
    CopyOutcomes.outcomes	One for each id, in their order.
    CopyStatus.Relay.comparedAt	When it was last compared, seconds since 1970; absent: never.
    CopyStatus.Relay.left	Events that it lacks and is not sent; `reason` says why.
    CopyStatus.Relay.open	Events that it lacks and is to be sent.
    CopyStatus.Relay.reason	Why it could not be compared, or why it is sent nothing more.
    CopyStatus.Relay.refused	Events that it has refused for good.
    CopyStatus.Relay.relay	Its URL.
    CopyStatus.Relay.taken	Events that it took when they were sent again.
    CopyStatus.account	The account's name.
    CopyStatus.copies	How many of them have 0, 1, 2, … copies; empty until a relay was compared.
    CopyStatus.endedAt	When the last round ended, seconds since 1970; absent: there was none.
    CopyStatus.events	Events that are to have copies: what the account wrote, except what must not be spread.
    CopyStatus.isRunning	Whether relays are being compared now.
    CopyStatus.nextAt	When the next round begins, seconds since 1970; absent: none does by itself.
    CopyStatus.relays	The relays that are to have them, in the order of their URLs.
    CopyStatus.repaired	Copies that relays have taken within a week.
    CopyStatus.wanted	How many copies are wanted.
    CoverageAdded.at	When the end arrived, seconds since 1970.
    CoverageAdded.filter	The filter; absent when it is too long to repeat.
    CoverageAdded.isStoredEnd	True after all that the relay had for the filter, false after a page of it.
    CoverageAdded.key	The filter's key, SHA-256 of its canonical form: 64 hexadecimal digits.
    CoverageAdded.number	One more than in the event before; 1 is the first of each life of the store. After a gap, call `store.coverage`.
    CoverageAdded.relay	The relay's URL.
    CoverageAdded.since	The first second (of `created_at`) of the span in which nothing is missing, if the end names a span.
    CoverageAdded.until	The last second.
    CoveredFilter.Interval.checkedAt	When the relay was queried, seconds since 1970.
    CoveredFilter.Interval.since	The first second (of `created_at`).
    CoveredFilter.Interval.until	The last second.
    CoveredFilter.fetchedAt	When the relay last sent all it had for exactly this filter, including its times and limit; seconds since 1970.
    CoveredFilter.filter	The index, from 0, of the filter in the request.
    CoveredFilter.intervals	In ascending order; they do not overlap.
    CoveredFilter.part	With `inParts`: the part of the filter that this is about, without times and limit.
    CoveredFilter.relay	The relay's URL.
    DeadLetterRecord.deliveries	How many times it was delivered.
    DeadLetterRecord.id	Its id among the dead letters.
    DeadLetterRecord.isBase64	Whether `payload` is base64. Left out when `payload` is.
    DeadLetterRecord.isRaw	Whether the payload is raw bytes.
    DeadLetterRecord.method	The method, by name.
    DeadLetterRecord.payload	The payload: text if it is UTF-8, else base64 (see `isBase64`). Left out when it is empty, and in a list.
    DeadLetterRecord.sender	The caller that sent it.
    DeadLetterRecord.time	When it was last set aside; RFC 3339.
    DeadLetterRecord.trace	The trace number, in hexadecimal.
    DeadLetterRecord.worker	The worker that it was sent to.
    DeadLettersRequest.action	`list`, `show`, `retry` or `drop`.
    DeadLettersRequest.id	The dead letter, for all actions but `list`; `drop` also takes `all`.
    DeadLettersResult.answer	For `retry`: the terminal answer of the worker, as text if it is UTF-8, else base64.
    DeadLettersResult.isAnswerBase64	Whether answer is base64; absent = no.
    DeadLettersResult.letters	For `list` all dead letters (their payloads may be left out), for `show` one, for the other actions those that they changed.
    DeadLettersResult.sentence	What was done, for `retry` and `drop`.
    DesiredSubscription.account	The account that authenticates if the relay requires it (NIP-42), 64 hexadecimal digits. Absent: none.
    DesiredSubscription.filters	NIP-01 filters.
    DesiredSubscription.isBackfill	Whether the relay is dialled for it after everything else, if no group has it. Absent: no.
    DesiredSubscription.isForeign	Whether the relay was named by someone else; it is then not dialled at a private address.
    DesiredSubscription.isFresh	Whether the relay is asked for all of it again; otherwise only for what is not covered (StoreCoverage).
    DesiredSubscription.isLive	Whether it stays open after EOSE; otherwise it ends there.
    DesiredSubscription.key	The planner's key for it, 1 to 64 bytes, unique over all relays. Other filters under the same key are a new REQ.
    DesiredSubscription.relay	The relay.
    DesiredSubscription.stored	Which stored events are wanted. Absent: as each filter says, the newest of its `limit`, or all since its `since`; a filter without limit that names neither ids, authors nor tag values gets what the relay sends in one page.
    DesiredSubscription.trace	The trace of a request that it is wanted for, for logs; absent: of none. A change of it alone is not sent.
    DifferentEvents.bytes	The ids, one behind the other.
    DifferentEvents.lackingSide	Who lacks the events.
    DoctorResult.Check.isGood	Whether nothing needs fixing.
    DoctorResult.Check.isPending	Whether it is starting, or stopped on purpose: good, but not at work. Absent: no.
    DoctorResult.Check.name	What was checked.
    DoctorResult.Check.text	What was found, and what to do.
    DoctorResult.checks	All checks.
    EditedList.account	The account's name.
    EditedList.after	The number of entries now.
    EditedList.before	The number of entries before.
    EditedList.id	The version that counts now; absent: there is no such list.
    EditedList.identifier	The list's name; empty for a list of which an account has one.
    EditedList.isNew	Whether that version is new. False: the list was so already, and nothing is published.
    EditedList.kind	The list's kind.
    EditedList.silentRelays	Relays that the account writes to and that could not be asked. Absent: none.
    EntryEdit.add	An entry that is to be in the list: a tag. An entry that is there already gets the tag's further elements, if it has any.
    EntryEdit.isPrivate	For `add`: whether only the account can read the entry; default: no. For `remove`: whether it goes from the private or from the public entries only; default: from both.
    EntryEdit.remove	An entry that is not to be in the list: the tag's name and its first value.
    EntryEdit.set	A field of a profile that gets a value.
    EntryEdit.unset	A field that is not to be in the profile.
    EntryEdit.value	The value of `set`.
    EventCopies.Relay.at	When it was compared, or took or refused the event, seconds since 1970.
    EventCopies.Relay.reason	Why it is not there.
    EventCopies.Relay.relay	Its URL.
    EventCopies.Relay.state	What is known.
    EventCopies.account	The name of its author's account.
    EventCopies.exception	Why it is sent nowhere by itself; absent: it is.
    EventCopies.id	The event's id.
    EventCopies.relays	The relays, in the order of their URLs.
    EventIDs.bytes	The ids.
    EventPage.Problem.offset	The offset in the page, in bytes.
    EventPage.Problem.reason	What is wrong.
    EventPage.Record.bytes	The range of its bytes in the page.
    EventPage.Record.kind	Its kind.
    EventPage.Record.seq	Its place in the order of commits; nil for an ephemeral event, which is not stored.
    FeedEvents.bytes	The part.
    FeedEvents.isRaw	Whether it is a page.
    FeedState.account	Whose feed or inbox it is, 64 hexadecimal digits.
    FeedState.isFeedState	Always true: it distinguishes this part from an event.
    FeedState.isListKnown	Whether the list of people is here; false: it was never fetched, or its author has not published any. Absent for an inbox.
    FeedState.people	How many people are in the list; absent for an inbox.
    FeedState.privateMutes	The encrypted entries of the list of mutes (kind 10000).
    FeedState.privatePeople	The encrypted entries of the set; absent for a follow list, which has none, and for an inbox.
    FieldRange.maximum	The greatest value; nil: the greatest value of the type.
    FieldRange.minimum	The least value.
    FieldRange.name	Its name; for a number in an inner object, with the object's name: `payment.jobMaximum`.
    ForgetStep.gone	What was removed.
    ForgetStep.isDone	Whether it is done.
    ForgetStep.remark	Why it waits, or what stays, as a sentence.
    ForgetStep.step	What is done: a worker's name, `relays`, `people` or `key`.
    FoundPeople.people	The people.
    FoundPerson.field	What matched.
    FoundPerson.isFollowed	Whether one of the accounts that were meant follows the person.
    FoundPerson.nip05	The internet identifier that the person claims; a stranger's text.
    FoundPerson.petname	The petname; a text of the account's own. Absent: none.
    FoundPerson.pubkey	The person's key, 64 hexadecimal digits.
    FoundPerson.shownName	As in shownName.
    FoundPerson.way	How it matched.
    HoldCommand.hold	False releases; default: true.
    HoldCommand.worker	The worker's name.
    InboxItem.about	The event that it is about, 64 hexadecimal digits, or an address `kind:key:d`; absent for a mention that answers nothing, and for a zap to the account itself.
    InboxItem.amountMillisatoshis	Of a zap: the amount of its invoice, in thousandths of a satoshi.
    InboxItem.author	The author, 64 hexadecimal digits; of a zap the payer.
    InboxItem.event	The event, in its own bytes.
    InboxItem.seq	Its place in the order of commits.
    InboxItem.sort	What it is.
    InboxItem.text	What a reaction says, `+`, `-` or an emoji; what the payer of a zap says.
    InboxItem.wallet	Of a zap: the key that claims that it was paid, 64 hexadecimal digits.
    InboxItems.bytes	The part.
    InboxItems.isRaw	Always false.
    IngestRecord.Problem.offset	The offset in the run, in bytes.
    IngestRecord.Problem.reason	What is wrong.
    IngestRecord.bytes	The range of its bytes in the run.
    IngestRecord.kind	Its kind.
    IngestRecord.receivedNanoseconds	When it arrived, nanoseconds since 1970.
    IngestRecord.relay	The relay's number in this run; 0 for none.
    IngestRecord.subscription	The sender's subscription.
    IngestResult.Invalid.id	The id that it claims; absent when it is no event.
    IngestResult.Invalid.reason	Why, as the end of a sentence.
    IngestResult.Invalid.record	The index of the record in the run, from 0; records of other kinds count too.
    IngestResult.Invalid.relay	The relay that sent it, when the run names it.
    IngestResult.deleted	Events that their author has deleted.
    IngestResult.duplicate	Events already stored.
    IngestResult.ephemeral	Ephemeral events: passed on to observers, and not stored.
    IngestResult.expired	Events whose own `expiration` has passed.
    IngestResult.invalid	The first of these, at most 256.
    IngestResult.invalidCount	Not events, or not signed by their author.
    IngestResult.mended	Events that were stored but damaged; this copy has replaced the damaged one. Absent: none.
    IngestResult.seq	The last seq of the store.
    IngestResult.stored	Events stored now.
    IngestResult.storedByRelay	Events stored now, by the relay that sent them, where the run names it; at most 64 relays. Absent: none.
    IngestResult.superseded	Events that a newer one has replaced.
    IngestRun.bytes	The records.
    IngestRun.isRaw	Whether the bytes are RAW.
    Job.account	The account that it belongs to, 64 hexadecimal digits.
    Job.accountName	The name of that account at the signer. `dvm-tracker` is the tracker's own account: it owns jobs that name no account, while the machine has no account of a person. Absent until the signer has answered.
    Job.dependsOn	Jobs of this tracker whose results it needs.
    Job.diagnostics	Unusual things in what providers sent, and how many times each.
    Job.endedAt	When it ended, seconds since 1970.
    Job.id	16 hexadecimal digits.
    Job.key	The caller's key for it.
    Job.kind	The kind of its requests.
    Job.nextDeadlineAt	When the present phase times out, seconds since 1970.
    Job.providers	Providers that answered or were named.
    Job.reason	Why it is in this state, as the end of a sentence.
    Job.requests	Its requests, in the order in which they were made.
    Job.result	The result that was accepted.
    Job.state	Its state.
    Job.submittedAt	When it was accepted, seconds since 1970.
    JobDeadlines.answer	From there to the first answer of a provider. Then: a new request, the next provider, or expired.
    JobDeadlines.decision	For a decision about a requested payment. Then: as denied.
    JobDeadlines.delivery	From a payment to the result. Then: expired, paid and not delivered.
    JobDeadlines.publish	Until a relay has a request, or this machine's store for a request that stays here. Then: expired.
    JobDeadlines.result	From a provider's last answer to its result. Then: a new request, the next provider, or expired.
    JobDeadlines.total	For the whole job.
    JobInputArgument.data	A URL, the id of an event, a job, or the text itself.
    JobInputArgument.marker	What the input is for.
    JobInputArgument.relay	The relay where the event or job was published.
    JobInputArgument.type	`url`, `event`, `job` or `text`. With `job`, the data is the `id` or `key` of a job of this tracker, which then waits for that job's result, or the id of any other request event.
    JobList.limit	The maximum number of jobs, from 0.
    JobList.states	Only jobs in one of these states; all jobs when absent.
    JobPayments.amount	The sum in millisatoshi; a payment without a stated amount adds nothing.
    JobPayments.count	The number of payments.
    JobProvider.about	Its description, as announced.
    JobProvider.announcedAt	When it last announced itself, seconds since 1970.
    JobProvider.answered	The number of these that it answered with a result.
    JobProvider.asked	Requests that this machine has addressed to it.
    JobProvider.contradictions	Jobs in which it asked for a payment that could not be approved: without an invoice, or with an invoice for another amount or network than it stated.
    JobProvider.isHere	Whether it is this machine's own provider. Absent: no.
    JobProvider.kinds	Kinds of requests that it serves, as announced; for this machine's own provider, as that worker reports.
    JobProvider.medianMilliseconds	The median time to its results, in milliseconds.
    JobProvider.name	Its name, as announced.
    JobProvider.provider	64 hexadecimal digits.
    JobProvider.undelivered	Payments to it for which no result arrived.
    JobProvider.unpaid	Results of it that were not paid.
    JobProviderState.amount	The amount that it asks for, in millisatoshi.
    JobProviderState.invoice	Its invoice, if that is valid. Absent when the provider gave none; the payment is then a zap.
    JobProviderState.invoiceProblem	Why the requested payment is not to be made, as the end of a sentence.
    JobProviderState.lastSignAt	When the provider last sent something, seconds since 1970.
    JobProviderState.message	The provider's own words.
    JobProviderState.partial	A part or sample of the result.
    JobProviderState.payment	The state of the payment; absent when the provider asks for none.
    JobProviderState.provider	64 hexadecimal digits.
    JobProviderState.results	The number of results it has sent.
    JobProviderState.state	The state at this provider.
    JobProviderState.zap	The zap that pays it, once the payment is approved.
    JobProviders.fetches	Whether relays are queried too; default: only the store.
    JobProviders.kind	Only providers that serve this kind of request; all when absent.
    JobProviders.limit	The maximum number of providers, from 0.
    JobReceiptState.author	Its author, 64 hexadecimal digits.
    JobReceiptState.event	The event's id.
    JobReceiptState.proof	How it proves that the zap was paid. Absent: anyone may have written it, and it proves nothing.
    JobReference.invoice	The invoice that the provider's wallet made for the zap request; only together with `preimage`.
    JobReference.job	Its `id`, its `key`, or the id of one of its request events.
    JobReference.preimage	The proof of a payment, 64 hexadecimal digits.
    JobReference.provider	The provider that the call is about.
    JobReference.wallet	The author of the receipts of the provider's wallet: `nostrPubkey` of its lnurl page. The payment is then a zap.
    JobReference.zap	Whether a zap is used although there is an invoice; default: no.
    JobRequestState.confirmedRelays	Relays that have it; 0 when the request stays on this machine.
    JobRequestState.event	The event's id.
    JobRequestState.isStored	Whether this machine's store has it.
    JobRequestState.providers	The providers that it addresses, 64 hexadecimal digits each; empty: it is open to all.
    JobRequestState.relays	Relays that it is for; 0 when the request stays on this machine.
    JobResultState.content	The result in plaintext.
    JobResultState.createdAt	Its `created_at`: when the provider says that it made the result, seconds since 1970.
    JobResultState.event	The event's id.
    JobResultState.isCut	Whether the content was cut because it is too long; the event has all of it. Absent: no.
    JobResultState.provider	The provider that made it, 64 hexadecimal digits.
    JobSubmit.Choice.agreement	How many providers must have sent the same result, at most 32; default 1.
    JobSubmit.Choice.window	How many seconds offers are collected before one is approved, at most maximum; default 0: the first offer counts.
    JobSubmit.Payment.dayMaximum	The maximum in 24 hours for all jobs together, in millisatoshi; default and upper bound: the configured one.
    JobSubmit.Payment.jobMaximum	The maximum for this job, in millisatoshi; default: its bid.
    JobSubmit.Payment.mode	What decides about a payment; default: the caller.
    JobSubmit.Payment.providerMaximum	The maximum in 24 hours for one provider, in millisatoshi; default and upper bound: the configured one.
    JobSubmit.account	The account that the job belongs to. Default: the only account of a person, or the tracker's own account while no person has one. accountName says which it is.
    JobSubmit.allowSecrets	Whether it may contain a secret key (`nsec1…`, `ncryptsec1…`); default: no, because providers read it.
    JobSubmit.bid	The highest price, in millisatoshi.
    JobSubmit.choice	Which of several answers is accepted.
    JobSubmit.deadlines	How long each phase may take.
    JobSubmit.encryption	How inputs and parameters are encrypted; default: not at all. Needs providers, unless this machine's own provider does the job.
    JobSubmit.inputs	The inputs, at most 64.
    JobSubmit.key	The caller's own key for it, 1 to 128 bytes; the tracker makes one when absent.
    JobSubmit.kind	5000 … 5999.
    JobSubmit.output	The wanted MIME type of the result.
    JobSubmit.params	Parameters: a name and its values, such as `["lang","es"]`; at most 64.
    JobSubmit.payment	What may be paid.
    JobSubmit.providers	The providers to ask: `npub` or 64 hexadecimal digits each, at most 32. Without any, every provider may answer.
    JobSubmit.reach	How far the request is sent.
    JobSubmit.relays	Relays where providers are to publish their answers; the planner chooses them when absent.
    JobSubmit.retries	How many new requests a provider that stopped answering gets before the next provider is asked or the job ends; 0 to 10, default 0. An answer to an earlier request still counts.
    JobSubmit.topics	Topics by which providers find it (`t` tags).
    JobSubmit.turns	Whether all providers get the request together, or one after another. Default: together, but one after another when the request is encrypted.
    JobZapState.address	The same page as an address: `alice@example.com`.
    JobZapState.amount	The amount to pay, in millisatoshi.
    JobZapState.lnurl	The page to send the request to, as the provider's profile names it: `lnurl1…`. Absent when the profile has none.
    JobZapState.receipts	Receipts for the request that have arrived.
    JobZapState.request	The signed zap request (kind 9734) as JSON: the exact bytes to send to the wallet. Absent until it is signed.
    JobZapState.target	The zapped event, which is the event that asks for the payment.
    KnownList.account	The account's name.
    KnownList.checkedAt	When the relays that the account writes to were asked last, and enough of them have answered; seconds since 1970.
    KnownList.content	Its content, as it is signed: the JSON of a profile, or the encrypted private entries.
    KnownList.createdAt	When it was made, seconds since 1970.
    KnownList.id	The event's id; absent: there is no such list.
    KnownList.identifier	The list's name; empty for a list of which an account has one.
    KnownList.kind	The list's kind.
    KnownList.privateProblem	Why the private entries cannot be read.
    KnownList.privateTags	The private entries; absent: without any, or when they cannot be read.
    KnownList.silentRelays	The relays that did not answer then.
    KnownList.tags	Its tags, all of them.
    KnownProfile.about	A few sentences.
    KnownProfile.askedAt	When relays were last asked for it, seconds since 1970; absent: not since the worker began.
    KnownProfile.banner	The address of a wide picture.
    KnownProfile.bot	Whether it says that its author is a program; absent: no.
    KnownProfile.claim	What the name's server said of `nip05`, if that was asked within its time; absent: unknown. `people.name` asks.
    KnownProfile.createdAt	When the event was made, seconds since 1970; absent without one.
    KnownProfile.displayName	The longer name.
    KnownProfile.fault	Why the event is not a profile.
    KnownProfile.lud16	The lightning address (LUD-16).
    KnownProfile.name	The name.
    KnownProfile.nip05	The internet identifier that the person claims (NIP-05); it proves nothing.
    KnownProfile.picture	The address of a picture.
    KnownProfile.pubkey	The person's key, 64 hexadecimal digits.
    KnownProfile.shownName	The name to show: the display name, else the name, else the name of the internet identifier, else the shortened `npub`. At most 64 characters on one line; control and direction marks are written as escapes.
    KnownProfile.state	Whether there is a profile.
    KnownProfile.website	The address of a page.
    LinkChange.Notice.body	Its body.
    LinkChange.Notice.title	Its title: `Ann shared a post`.
    LinkChange.account	The account, 64 hexadecimal digits.
    LinkChange.conversation	The conversation that has changed; nil: contacts.
    LinkChange.id	What has come or has another stage; absent: something was read.
    LinkChange.notice	Something came from another author: the notice for it, once, also over restarts.
    LinkContact.name	What the account calls it.
    LinkContact.publicKey	Its key, 64 hexadecimal digits.
    LinkContact.relays	Relays that gift wraps go to while this contact has no list of relays for them (kind 10050); empty: none.
    LinkContact.sessions	Whether links to it are written in sessions, the newer form of linkstr (v2), which has no replies; absent: no.
    LinkConversationRow.contact	The name of the contact, where the only other member is one.
    LinkConversationRow.id	Its id: 64 hexadecimal digits, or the id of a session.
    LinkConversationRow.isSession	Whether it is a session (v2 of linkstr); absent: it is not.
    LinkConversationRow.lastAt	When its newest entry was written, seconds since 1970.
    LinkConversationRow.members	The other members, 64 hexadecimal digits each; empty for notes to oneself.
    LinkConversationRow.name	The name of a session, or the subject of messages.
    LinkConversationRow.place	Its place in the order of the rows.
    LinkConversationRow.posts	How many posts or messages it has.
    LinkConversationRow.unread	How many posts have something unread: the post itself, or replies. Of messages how many are unread.
    LinkFeedSettings.relays	The relays at which linkstr's client sends, asked for accounts that use links beside those of the account's own list (kind 10050): that client knows no such lists.
    LinkPageSettings.environment	`NAME=VALUE`, for these programs.
    LinkPageSettings.extractor	The program that finds the address of a video, and its arguments; the link follows them. It prints addresses of media files, one in a line. Empty: none.
    LinkPageSettings.extractorMilliseconds	How long the extractor may take, in milliseconds.
    LinkPageSettings.listen	Where it listens: a loopback address and a port.
    LinkPageSettings.notify	The program that shows a notice, and its arguments; the title and the body follow them. Empty: none.
    LinkPageSettings.read	What these programs may read in addition to the system's files.
    LinkReactionRow.author	Whose it is, 64 hexadecimal digits.
    LinkReactionRow.emoji	The emoji.
    LinkRow.about	The post of a reply; the message that a message answers.
    LinkRow.at	When it was written, by its author's clock, seconds since 1970.
    LinkRow.author	Its author, 64 hexadecimal digits.
    LinkRow.conversation	The conversation.
    LinkRow.id	The id of the rumor.
    LinkRow.isLegacy	Whether it came as kind 4, which any relay could read the names of.
    LinkRow.isOwn	Whether the account itself has sent it.
    LinkRow.isUnread	Whether it was not read yet.
    LinkRow.label	`Video` or `Link`.
    LinkRow.place	Its place in the order of the rows.
    LinkRow.problem	Why a recipient does not have it, of one's own that is not `sent`: the words of relays or of the planner, with the recipients where there are several; at most 1024 bytes. Absent: nothing is known.
    LinkRow.reactions	Reactions to it: the emoji, and who.
    LinkRow.replies	Replies of a post.
    LinkRow.sort	What it is.
    LinkRow.stage	How far it is, of one's own.
    LinkRow.subject	The title of the conversation from this message on.
    LinkRow.text	The note of a post; the text of a reply or message.
    LinkRow.unreadReplies	Unread replies of a post.
    LinkRow.url	The link of a post, the address of a file.
    LinksContact.account	The account.
    LinksContact.name	What the account calls it. A new contact needs it.
    LinksContact.publicKey	The contact's key: `npub`, 64 hexadecimal digits, or its name.
    LinksContact.relays	Relays that the account agrees to for it, at most 5: see relays.
    LinksContact.remove	Whether it is removed.
    LinksContact.sessions	Whether links to it are written in sessions: see sessions.
    LinksContacts.account	The account.
    LinksList.account	The account.
    LinksList.before	Where the next page begins: the `place` of the last row of the page before.
    LinksList.limit	The most conversations, 1 to 1000; default 100.
    LinksList.unread	Only those with something that was not read.
    LinksPost.account	The account that posts. May be left out while there is exactly one, or one is used.
    LinksPost.givesUp	Whether it is called off when the wait is over. Otherwise the publish queue keeps trying.
    LinksPost.note	What the author says of it.
    LinksPost.session	For a contact with sessions: the name of the session, which is made if it is missing. Default: any session; a new one has the names of the account and of the contact, and the contact reads them.
    LinksPost.to	To whom: `npub`, 64 hexadecimal digits, the name of a contact, or the id of a conversation.
    LinksPost.token	The caller's own name for this post, 1 to 64 bytes: a repeated call that sends the same under the same name sends nothing again.
    LinksPost.url	The link: http or https, at most 4,096 bytes.
    LinksPost.waitMilliseconds	How long to wait for relays, 0 to 120000; default 12000.
    LinksRead.account	The account.
    LinksRead.conversation	The conversation whose posts are read. Their replies stay unread.
    LinksRead.newest	The `place` of the newest row that was shown: what came meanwhile stays unread.
    LinksRead.oldest	The `place` of the oldest row that was shown: older ones of the conversation stay unread.
    LinksRead.post	The post that is read, with its replies: as in LinksShow.
    LinksReply.account	The account that replies.
    LinksReply.givesUp	As in LinksPost.
    LinksReply.post	The post: as in LinksShow.
    LinksReply.text	The reply.
    LinksReply.token	As in LinksPost.
    LinksReply.waitMilliseconds	As in LinksPost.
    LinksShow.account	The account.
    LinksShow.before	Where the next page begins: the `place` of the last row of the page before. The next page of a post has newer replies, and not the post again.
    LinksShow.conversation	The conversation: as `to` in LinksPost.
    LinksShow.limit	As in LinksList.
    LinksShow.post	The post whose replies are wanted: its id, or the first digits of it, 8 or more. They come after the post itself, the oldest first.
    LinksStatus.Account.isOpen	Whether its wraps can be opened now.
    LinksStatus.Account.name	Its name.
    LinksStatus.Account.publicKey	Its key, 64 hexadecimal digits.
    LinksStatus.Account.refused	Those that were refused.
    LinksStatus.Account.unsent	What is not with every recipient yet.
    LinksStatus.Account.usesLinks	Whether it uses links: then the relays of the settings are asked too.
    LinksStatus.Account.wraps	Gift wraps that were opened, or refused.
    LinksStatus.accounts	The accounts.
    LinksStatus.fault	Why nothing can be kept at present; absent when it can.
    LinksStatus.sending	Whether something can be sent now; absent while the planner does not answer.
    ListVersionRow.createdAt	When it was made, seconds since 1970.
    ListVersionRow.entries	The number of its entries.
    ListVersionRow.id	The event's id.
    ListVersionRow.isOurs	Whether it was made here, and not by another device.
    ListVersionRow.isWaiting	Whether the publish queue does not have it yet.
    ListVersionRow.problem	What of ours another device's version lacks and is given up, in words. Absent: nothing.
    ListenAddress.host	The address. An IPv4 address that was written as an IPv6 address (`[::ffff:127.0.0.1]`) is stored as IPv4.
    ListenAddress.port	1 to 65,535.
    ListenAddressFault.description	The sentence.
    LocalRelayClient.address	The client's address and port.
    LocalRelayClient.agent	The program that the client says it is.
    LocalRelayClient.authenticated	Keys that it has authenticated as, 64 hexadecimal digits each.
    LocalRelayClient.delivered	Events sent to it.
    LocalRelayClient.isAdmitted	Whether the client may do anything; otherwise it is an unknown page, or has not authenticated.
    LocalRelayClient.number	The connection's number, counted since the start.
    LocalRelayClient.origin	The origin of the web page, if the client is one in a browser.
    LocalRelayClient.since	When it connected, seconds since 1970.
    LocalRelayClient.subscriptions	Its subscriptions.
    LocalRelayClient.taken	Events of the client that were accepted.
    LocalRelayClients.allowed	The allowed origins, sorted.
    LocalRelayClients.clients	Connections.
    LocalRelayClients.others	The number of connections that the answer leaves out.
    LocalRelayOrigin.origin	The origin as browsers write it: scheme, host, and port unless it is the scheme's own.
    LocalRelayOrigins.allowed	The allowed origins, sorted.
    LocalRelayOutsider.count	Connections that had to authenticate and requests that were refused, since the start.
    LocalRelayOutsider.uid	The user id.
    LocalRelaySettings.allowUids	Users of this machine that are trusted in addition to its own: `allow-uids` of roostd, which sends it.
    LocalRelaySettings.certificateFile	The certificate chain, in PEM; "" for none.
    LocalRelaySettings.connectionsMaximum	The maximum number of connections.
    LocalRelaySettings.contact	The contact in NIP-11; "" for none.
    LocalRelaySettings.description	The description in NIP-11; "" for Roost's own.
    LocalRelaySettings.eventsPerSecond	The maximum number of events from a client in a second.
    LocalRelaySettings.fetch	Whether the network is queried for the requests of programs of the daemon's user and of authenticated accounts, in addition to the store, and without a wait for it.
    LocalRelaySettings.fetchClients	Origins or public keys of clients for whose requests the network is queried, and whose EOSE waits for it.
    LocalRelaySettings.fetchFilters	Filters, as JSON, for which the network is queried.
    LocalRelaySettings.filtersMaximum	The maximum number of filters of a subscription.
    LocalRelaySettings.guests	Keys that are admitted where a client must authenticate, in addition to the accounts; npub or hexadecimal.
    LocalRelaySettings.hosts	Further names of the relay, in addition to those of its machine.
    LocalRelaySettings.icon	The address of a picture in NIP-11; "" for none.
    LocalRelaySettings.keyFile	The certificate's key, in PEM; "" when it is in the same file.
    LocalRelaySettings.listen	Addresses to listen at; the defaults are where clients of Nostr look for a local relay.
    LocalRelaySettings.messageBytes	The maximum size of one message of a client, in bytes.
    LocalRelaySettings.name	The name in NIP-11.
    LocalRelaySettings.ownKey	The relay's own key in NIP-11 (`self`), npub or hexadecimal; "" for none.
    LocalRelaySettings.requestsPerSecond	The maximum number of subscriptions that a client may open in a second.
    LocalRelaySettings.slowClientMilliseconds	How long a client may read nothing before it is disconnected.
    LocalRelaySettings.software	The address of the software's page in NIP-11; "" for none.
    LocalRelaySettings.subscriptionsMaximum	The maximum number of subscriptions of a client.
    LocalRelaySettings.version	The version in NIP-11; "" for Roost's own.
    LocalRelayStatus.accepted	Connections accepted since the start.
    LocalRelayStatus.addresses	Where it listens, as clients dial it: an unspecified address is shown as the machine's names and the loopback.
    LocalRelayStatus.connections	Connections now.
    LocalRelayStatus.connectionsMaximum	The maximum number of connections.
    LocalRelayStatus.delivered	Events sent to clients.
    LocalRelayStatus.displaced	Connections since the start that were closed before their clients had authenticated, because other connections needed the place.
    LocalRelayStatus.displacedSecondsAgo	Seconds since that last happened; absent: never.
    LocalRelayStatus.everywhere	Where it listens at every address, in words: `every IPv4 address, port 4869`. Absent: nowhere.
    LocalRelayStatus.knowsUsers	Whether the kernel reports which user a connection belongs to. Without that, all programs of this machine have to authenticate. Absent in answers of earlier versions.
    LocalRelayStatus.outside	Connections now whose clients have not authenticated.
    LocalRelayStatus.outsideMaximum	The maximum number of such connections.
    LocalRelayStatus.outsideProxied	The same for requests through a proxy.
    LocalRelayStatus.outsideUnknown	The same for programs whose user the kernel does not report.
    LocalRelayStatus.outsideUsers	Connections from this machine since the start that had to authenticate, and requests for the status page that were refused, because they came from other users. Absent in answers of earlier versions.
    LocalRelayStatus.outsiders	The users counted in `outsideUsers` with their counts, the highest count first; at most 62 users. Further users are counted in `outsideUnknown`. Absent in answers of earlier versions.
    LocalRelayStatus.refused	Events and requests of clients that were refused.
    LocalRelayStatus.subscriptions	Subscriptions of all connections.
    LocalRelayStatus.taken	Events of clients that were accepted.
    LocalRelayStatus.turnedAway	Connections rejected because there were too many.
    LocalRelayStatus.turnedAwaySecondsAgo	Seconds since a connection was last rejected; absent: never, or an answer of an earlier version.
    LogLevelRequest.category	A category; `*` for all categories without a level of their own.
    LogLevelRequest.level	`trace`, `debug`, `info`, `notice`, `warning`, `error` or `critical`.
    LogLevelResult.category	The category.
    LogLevelResult.level	Its level.
    LogLevelResult.remark	A warning, such as that no worker logs in this category.
    LogRecord.category	The category of a structured line; `stdout` or `stderr` for plain ones.
    LogRecord.fields	Further fields of a structured line. `trace` is the trace of the request that it is about.
    LogRecord.level	`trace` … `critical`; plain lines of standard output are `info`, of standard error `notice`.
    LogRecord.message	The text.
    LogRecord.time	Wall time, RFC 3339 in UTC with milliseconds; for people, never for arithmetic.
    LogRecord.worker	The worker that wrote it; `roostd` for the supervisor itself.
    LogsRequest.follow	Whether new lines follow.
    LogsRequest.lines	The number of past lines.
    LogsRequest.trace	Only lines about the request with this trace, of all workers that worked on it: 1 to 16 hexadecimal digits.
    LogsRequest.worker	Only this worker's lines.
    MessagesSend.account	The account that writes.
    MessagesSend.givesUp	As in LinksPost.
    MessagesSend.legacy	Whether it is sent as kind 4 (NIP-04), which shows who writes to whom: for recipients who read nothing else.
    MessagesSend.replyTo	The message that it answers: its id, or the first digits of one that is here, idDigitsMinimum or more.
    MessagesSend.subject	The title of the conversation from now on.
    MessagesSend.text	The text.
    MessagesSend.to	To whom, 1 to 32: as in LinksPost.
    MessagesSend.token	As in LinksPost.
    MessagesSend.waitMilliseconds	As in LinksPost.
    Method.declaration	The declaration without its types.
    MethodDeclaration.answer	The type of the answer.
    MethodDeclaration.arguments	The type of the arguments, or of what the topic publishes.
    MethodDeclaration.callers	The roles that may call or subscribe.
    MethodDeclaration.kind	Method or topic.
    MethodDeclaration.name	`relay.request`
    MethodDeclaration.number	The number in the header's `method`. Part of the protocol: it is never given to another method.
    MethodDeclaration.part	The type of each part; nil: it has no parts.
    MethodDeclaration.refusals	Its own refusals, in addition to those that any method may answer with.
    MethodDeclaration.server	The role that serves or publishes it.
    MethodDeclaration.text	What it does, in one or two sentences.
    MirrorCopies.id	The event's id, 64 hexadecimal digits.
    MirrorKeep.bytes	Bytes that it may have; 0: no bound.
    MirrorKeep.filter	A NIP-01 filter, as JSON.
    MirrorKeep.name	Its name in the file.
    MirrorKeep.relays	The relays that are asked; empty: those where its authors write, or that name them, as the planner chooses.
    MirrorScrub.account	Only this account, by its name.
    MirrorScrub.relay	Only this relay, also when the account does not write to it; also what was left there for reasons of the relay.
    MirrorSettings.archives	The URLs of relays that are asked, beside those of the accounts' lists, for what is public.
    MirrorSettings.copies	How many relays are to have each event that an account wrote.
    MirrorSettings.copyRelays	The URLs of relays that are sent copies when an account writes to fewer than copies relays.
    MirrorSettings.keep	What else is kept, by `[worker.mirror.keep.NAME]`; set by roostd.
    MirrorSettings.keepFollowsBytes	Bytes that what followed people write may have; 0: no bound.
    MirrorSettings.keepFollowsMilliseconds	How far back it keeps what followed people write; 0 for nothing of theirs.
    MirrorSettings.keepNamedBytes	Bytes that what names an account may have, over all accounts; 0: no bound.
    MirrorSettings.keepWrapsBytes	Bytes that gift wraps to the accounts may have; 0: no bound.
    MirrorSettings.peers	The URLs of the local relays of other Roosts of the same owner, without a path.
    MirrorSettings.scrubMilliseconds	How often the relays are compared with what an account wrote, and sent what they lack; 0: never.
    MirrorStatus.Bound.byteMaximum	The bytes that it may have.
    MirrorStatus.Bound.bytes	Bytes of its events that are here; absent: not counted yet.
    MirrorStatus.Bound.kind	The class.
    MirrorStatus.Bound.name	For the class `keep` the name in the configuration.
    MirrorStatus.Bound.since	What is older than this second is not fetched; absent: there is room for everything that was found.
    MirrorStatus.Entry.account	The account's name; absent for the class `keep`, which is of no account.
    MirrorStatus.Entry.end	The last fetch: how it ended; absent before the first.
    MirrorStatus.Entry.events	Events of it that are here.
    MirrorStatus.Entry.isFetching	Whether it is being fetched now.
    MirrorStatus.Entry.kind	What is kept.
    MirrorStatus.Entry.name	For the class `keep` the name in the configuration; absent for all others.
    MirrorStatus.Entry.nextAt	When it is fetched next, seconds since 1970.
    MirrorStatus.Entry.relays	Its relays, in the order of their URLs; empty for `follows`, where each relay has only some of the people.
    MirrorStatus.Entry.since	What is older than this second is not fetched, because the class is full or its filter says so; absent: everything is.
    MirrorStatus.Relay.comparedAt	When it was last compared, seconds since 1970.
    MirrorStatus.Relay.reason	Why it has not sent everything.
    MirrorStatus.Relay.relay	Its URL.
    MirrorStatus.Relay.since	Nothing of the relay is missing from this second on, up to now or the last comparison; 0: from the beginning. Absent: it has not sent everything of any time yet.
    MirrorStatus.Relay.state	How far it was at the last attempt; absent when it was not asked yet.
    MirrorStatus.bounds	The classes that have a bound, in the order of MirrorClass.
    MirrorStatus.copies	The living copies of what each account wrote.
    MirrorStatus.entries	In the order of accounts and classes.
    MirrorStatus.peers	The other Roosts of the same owner, in the order of the settings.
    MirrorSync.peer	The peer, as in the settings; absent: all.
    NameClaim.checkedAt	When the server was asked, seconds since 1970.
    NameClaim.name	The name as it was looked up, in lower case.
    NameClaim.otherPubkey	The key that the name leads to, when it is another one.
    NameClaim.pubkey	The person's key, 64 hexadecimal digits.
    NameClaim.reason	Why the verdict is `unknown` or `unreachable`, as a sentence; it may have text of the server's.
    NameClaim.verdict	What its server says.
    NameResolve.name	`name@domain`, or a domain alone.
    ObserveChanges.changed	New and changed entries, each complete.
    ObserveChanges.generation	The generation of the store that counts these versions.
    ObserveChanges.removed	Keys of entries that no longer have an observer.
    ObserveChanges.version	One more than the version before.
    ObserveListEnd.count	The number of entries in the list.
    ObserveListEnd.generation	As in ObserveChanges.
    ObserveListEnd.version	The list includes changes up to this version.
    ObserveProgress.Relay.events	Events received from it.
    ObserveProgress.Relay.reason	Why it waits or has refused.
    ObserveProgress.Relay.relay	Its URL.
    ObserveProgress.Relay.state	As in RequestReport.
    ObserveProgress.isComplete	Whether every relay has sent what it had stored, or is not expected to.
    ObserveProgress.isObserved	Whether any caller observes it at present.
    ObserveProgress.relays	The relays.
    ObservedEvent.event	The event.
    ObservedEvent.relay	The relay that sent it; only with `superseded`, of a version of a list that comes now.
    ObservedEvent.seq	Its place in the order of commits; absent for an ephemeral one, and for what is sent for `superseded`.
    ObservedEvents.bytes	The part.
    ObservedEvents.isRaw	Whether it is a page.
    OfferOutcomes.bytes	The outcomes.
    OfferOutcomes.isRaw	Whether the bytes are RAW.
    OfferRun.Problem.offset	The offset in the run, in bytes.
    OfferRun.Problem.reason	What is wrong.
    OfferedEvents.bytes	The run.
    OfferedEvents.isRaw	Whether the bytes are RAW.
    PageAddress.address	The address, for a browser on this machine.
    PageAddress.seconds	How long it can be used, in seconds.
    PageEnter.link	A link of linkstr's to show first.
    PayloadShape.Member.isOptional	Whether it may be absent.
    PayloadShape.Member.name	Its name.
    PayloadShape.Member.type	Its type.
    PayloadShape.isText	Whether the type is a text in JSON, such as `RefusalCode`.
    PayloadShape.members	The members, in the order in which the type reads them.
    PeerStatus.fetched	Events that came from there in the last comparison.
    PeerStatus.isRunning	Whether they are being compared now.
    PeerStatus.learned	Publications of there that this Roost has learned of since its start.
    PeerStatus.nextAt	When they are compared next, seconds since 1970; absent while that is under way.
    PeerStatus.peer	Its URL, as in the settings.
    PeerStatus.reason	Why the last comparison was not brought to its end; absent: it was.
    PeerStatus.sameAt	When they were last the same in all that the accounts' interests name, seconds since 1970; absent: never.
    PeerStatus.sent	Events that were sent there in the last comparison, and are there now.
    PeopleEdit.account	The account; may be left out as for the signer.
    PeopleEdit.changes	The differences, made in this order; at most 4096.
    PeopleEdit.fromHere	Whether the version that is here counts as the newest, without asking relays; default: no.
    PeopleEdit.identifier	The list's name; default: empty.
    PeopleEdit.isMeant	Whether the list may lose a quarter of its entries or more; default: no.
    PeopleEdit.kind	The list's kind.
    PeopleEdit.undo	Instead of changes: what this version of the list changed is taken back.
    PeopleFeed.account	Whose feed it is: a name, or a key as 64 hexadecimal digits or `npub`, which need not be an account's. May be left out while there is exactly one account.
    PeopleFeed.afterSeq	The last seq that the caller has handled.
    PeopleFeed.kinds	The kinds; default: defaultKinds. At most 32.
    PeopleFeed.limit	How many stored events, 0 to 500; default 50. Has no effect with `afterSeq`.
    PeopleFeed.pages	Whether events come in pages, as EventPage.
    PeopleFeed.policy	Whether relays are asked: `cache-with-network`, the default, or `cache-only`.
    PeopleFeed.set	The set of people (kind 30000) that takes the place of the follow list: its address, `naddr`, or the identifier of one of the account's own.
    PeopleFind.account	The account whose follows come first: its name or its key. Absent: those of all accounts.
    PeopleFind.limit	The most people that are answered, 1 to 10000; default 20.
    PeopleFind.text	The letters, 1 to 256 bytes.
    PeopleForget.account	The account, 64 hexadecimal digits.
    PeopleForgotten.gone	What was removed, all steps together.
    PeopleForgotten.relays	Relays that have events of the account, if that was known here, the one with the most first. Nothing is asked of them: deletion at relays is another thing (NIP-62), and needs the key.
    PeopleForgotten.remarks	What stays on this machine, as sentences.
    PeopleInbox.account	Whose inbox it is: as in PeopleFeed.
    PeopleInbox.afterSeq	The last seq that the caller has handled.
    PeopleInbox.limit	How many stored items: as in PeopleFeed.
    PeopleInbox.only	What is wanted; absent: everything.
    PeopleInbox.policy	Whether relays are asked: as in PeopleFeed.
    PeopleList.account	The account; may be left out as for the signer.
    PeopleList.id	This version instead of the newest, 64 hexadecimal digits.
    PeopleList.identifier	The list's name; default: empty.
    PeopleList.isFresh	Whether the relays that the account writes to are asked first; default: no.
    PeopleList.kind	The list's kind.
    PeopleName.name	The name, `name@domain` or a domain. Absent: the one in the person's stored profile.
    PeopleName.pubkey	The person's key, 64 hexadecimal digits.
    PeopleProfiles.keys	The people: keys, 64 hexadecimal digits; 1 to 10000.
    PeopleProfiles.live	Whether the request stays open for newer profiles until the caller cancels. Default: false.
    PeopleProfiles.maxAge	In seconds: relays are not asked for a person for whom they were asked within this time, also when they had nothing. Default 0: they are asked now, or are being asked already.
    PeopleProfiles.policy	`cache-only`: what is stored, no relay is asked. Default: `cache-with-network`.
    PeopleSettings.profileBytes	The bytes that profiles in memory may take; further ones are read from the store again.
    PeopleStatus.lists	Lists of which versions are kept.
    PeopleStatus.versions	Versions that are kept.
    PeopleStatus.waiting	Accepted edits that the publish queue does not have yet.
    PeopleVersions.account	The account; may be left out as for the signer.
    PeopleVersions.identifier	The list's name; default: empty.
    PeopleVersions.kind	The list's kind.
    PlanCopy.account	The account that authenticates, 64 hexadecimal digits; absent: each event's author. Only another Roost of the same owner (`peers` of the mirror) is sent what others wrote, and it needs this.
    PlanCopy.ids	The events' ids, 64 hexadecimal digits each, in the order in which they are sent; at most 128.
    PlanCopy.relay	The relay.
    PlanPublication.id	The event's id, 64 hexadecimal digits.
    PlanPublication.relay	Only this relay of it.
    PlanPublications.ids	Only these events, 64 hexadecimal digits each.
    PlanPublications.limit	The maximum number of publications, from 0.
    PlanPublications.olderThan	Only publications that still wait for a relay and were accepted at least so many seconds ago, the oldest first.
    PlanPublications.states	Only publications in one of these states; all when absent.
    PlanPublish.agreedRelays	Relays for a gift wrap whose recipient has no list of relays for it (kind 10050), because the account has agreed to them for this recipient. Only the role `link-feed` may name them. A list that appears counts instead of them.
    PlanPublish.event	The signed event.
    PlanPublish.expiresAfter	After how many seconds the planner gives up relays that have not accepted the event; the configured value when absent.
    PlanPublish.foreignRelays	Additional relays that someone else named, such as the customer of a job, as long as there is room for them. They are never dialled at a private address, and do not use the dial budget of the user's own actions. A gift wrap goes to none of them.
    PlanPublish.relays	Only these relays, at most 32; the planner chooses when absent.
    PlanPublish.replace	Whether the user wants a profile or list (kinds 0 and 3, the lists of NIP-51) to lose entries of its predecessor. The predecessor is kept for `plan.replaced`. Default: no.
    PlanRelay.reads	Whether subscriptions are opened there; default: true.
    PlanRelay.relay	The relay.
    PlanRelay.writes	Whether events are published there; default: true.
    PlanRelayList.Relay.connector	The worker that holds the connection.
    PlanRelayList.Relay.reads	Whether subscriptions are opened there.
    PlanRelayList.Relay.relay	Its canonical URL.
    PlanRelayList.Relay.sources	Where it comes from: `supervisor.conf [worker.NAME]`, `added`, `ACCOUNT's list`.
    PlanRelayList.Relay.state	As in `relay.list`, once the connector has reported it.
    PlanRelayList.Relay.writes	Whether events are published there.
    PlanRelayList.indexers	Where people's lists are looked for (`indexers` in `supervisor.conf`), whether or not they are among the relays. Absent in answers of earlier versions.
    PlanRelayList.relays	The relays, ordered by URL.
    PlanReplaced.forget	Whether the planner forgets that version.
    PlanReplaced.id	Only this version, and with its event: the event's id, 64 hexadecimal digits.
    PlanRetryUnsent.olderThan	The least age, in seconds; 0: all.
    PlanRetryUnsent.withFailed	Whether relays that were given up or cancelled are tried again too, of publications that have not ended. Default: no.
    PlanRoute.event	The event to publish, signed or not; only `kind`, `pubkey` and `tags` count.
    PlanRoute.filters	The filters of a subscription.
    PlanStatus.ephemeralRelays	Dialled relays that belong to no group of `supervisor.conf`.
    PlanStatus.fault	Why nothing can be accepted at present; absent when it can.
    PlanStatus.inFlight	Events in flight: sent to relays and not answered yet.
    PlanStatus.observes	Observations for which the network is queried.
    PlanStatus.overdue	Publications that have waited for a relay longer than 300. Absent: none.
    PlanStatus.overdueRelays	The relays that those publications wait for, the relay of most publications first, at most 8. Absent: none.
    PlanStatus.publications	Publications by state.
    PlanStatus.requests	REQs that the planner wants at relays.
    PlanStatus.sending	Whether events can be sent to relays now.
    PlanStatus.shrunkLists	Lists that lost more than half of their entries within the last days, the newest first. Absent: none.
    PlanStatus.silentConnectors	Connectors of `supervisor.conf` that do not report, by name, because they are held, stopped or starting. Absent: none.
    PlanStatus.waitingForConnectors	Publications that wait for such a connector. Absent: none.
    PlanWant.depth	How much each relay is asked for; default: `all`.
    PlanWant.eventMaximum	Ends when relays have sent so many events; what they send within a quarter of a second may exceed it. From 1. Absent: no bound.
    PlanWant.exclusiveRelays	Whether only `relays` and `foreignRelays` are asked.
    PlanWant.filters	NIP-01 filters; at most filterMaximum.
    PlanWant.foreignRelays	Further relays, which only strangers name: they are not asked at private addresses. At most relayMaximum.
    PlanWant.relays	Relays to ask in addition to those that the planner chooses; at most relayMaximum.
    PlanWant.seconds	Ends after so many seconds, 1 to 86400; default 86400.
    PlanWant.urgency	When relays are dialled for it; default: `look-up`.
    PlanWantResult.end	Why it ended.
    PlanWantResult.events	Events that relays have sent for it.
    PlanWantResult.relays	Its relays, and how far each is.
    PlannerSettings.allowsPrivateRelays	Whether other people's lists may name private addresses: for test networks.
    PlannerSettings.autopilot	Whether people are read, and told of what mentions them, at the relays that their own lists name.
    PlannerSettings.connectors	The configured connectors and their relays; set by roostd, not a key of the file.
    PlannerSettings.hasSigner	Whether a signer is configured; set by roostd, not a key of the file.
    PlannerSettings.indexers	The URLs of relays that are asked for other people's lists (kinds 10002 and 10050).
    PlannerSettings.monitors	The keys of monitors whose word on relays is believed (NIP-66), 64 hexadecimal digits each.
    PlannerSettings.ownAddresses	Where the local relays of this Roost listen; set by roostd, not a key of the file.
    PlannerSettings.peers	The other Roosts of the same owner, with PeerPath; set by roostd from the mirror's settings.
    PlannerSettings.publishExpiryMilliseconds	How long until relays that have not accepted an event are given up: three days, a weekend without a network.
    PlannerSettings.selection	How the relays of other people are chosen.
    ProfilePage.asked	Every relay has sent what it has, or is not expected to; comes once.
    ProfilePage.profiles	Profiles, each complete; empty in the part that has asked.
    ProfilesAsked.count	For how many of the people relays were asked because of this request, or of another one at the same time.
    ProfilesAsked.failed	For how many relays should have been asked and could not be; absent: none.
    ProfilesAsked.reason	Why not.
    ProviderSettings.about	Its description in the announcement; "" for none.
    ProviderSettings.account	The account that answers; "" for the worker's own.
    ProviderSettings.announce	Whether it announces publicly what it serves (NIP-89).
    ProviderSettings.concurrent	Requests that it works on at a time.
    ProviderSettings.customers	`["accounts"]`, `["anyone"]`, or public keys.
    ProviderSettings.name	Its name in the announcement; "" for Roost.
    ProviderSettings.network	Whether it queries relays for requests, and sends its answers there.
    ProviderSettings.openMarket	Whether it accepts requests that name no provider.
    ProviderSettings.paymentTimeMilliseconds	How long it waits for a payment.
    ProviderSettings.requestAgeMilliseconds	The age of the oldest request that it accepts.
    ProviderSettings.waitingMaximum	The maximum number of waiting requests; further ones are refused.
    Publication.acceptedAt	When it was accepted, seconds since 1970.
    Publication.author	Its author, 64 hexadecimal digits.
    Publication.expiresAt	When the planner gives up relays that have not accepted it, seconds since 1970.
    Publication.id	The event's id.
    Publication.kind	Its kind.
    Publication.remarks	Further remarks for the caller that publishes it: `it does nothing for note1…`. Absent: none.
    Publication.state	The state over all its relays.
    Publication.targets	Its relays, in the order of their URLs.
    PublicationExchange.account	The account, 64 hexadecimal digits. Publications of other authors are left out.
    PublicationExchange.after	Answers with what has changed after this number, which is next of the answer before; 0: with everything.
    PublicationExchange.publications	What the other has published; at most 128.
    PublicationTarget.attempts	The number of attempts.
    PublicationTarget.confirmedAt	When the relay accepted it, seconds since 1970.
    PublicationTarget.message	The relay's words, or why the event could not be sent, at the last attempt.
    PublicationTarget.nextAttemptAt	The time of the next attempt, seconds since 1970.
    PublicationTarget.relay	The relay.
    PublicationTarget.state	The state at this relay.
    PublicationTarget.why	Why this relay was chosen: `alice's list`, `configured`, `dm-list of npub1…`, `named`.
    PublishResult.id	The event's id.
    PublishResult.isMended	Whether it was stored but damaged, and this copy has replaced it; absent: no.
    PublishResult.isNew	Whether it was not stored before.
    PublishResult.seq	Its place in the order of commits; absent for an ephemeral one.
    PublishedNews.isComplete	Whether there are no further changes.
    PublishedNews.next	For the next question.
    PublishedNews.publications	Publications that have changed, in the order of their changes.
    PushDeviceRow.capabilities	The types of wakes that it wants; empty: all.
    PushDeviceRow.device	The device's name at its owner.
    PushDeviceRow.expiresAt	When its registration expires, seconds since 1970.
    PushDeviceRow.isReadable	Whether its token can be decrypted; if not, nothing is sent to it until it registers again.
    PushDeviceRow.isSealed	Whether messages to it are sealed, so that no platform can read them; absent in answers of older relays.
    PushDeviceRow.isVerified	Whether the owner has proven to hold the token.
    PushDeviceRow.owner	The key that registered it, in the notation of its realm.
    PushDeviceRow.platform	`ios`, `android` or `webpush`.
    PushDeviceRow.registeredAt	When it registered, seconds since 1970.
    PushDeviceRow.relayID	The device's id at this push relay.
    PushDevices.limit	The maximum number of devices, from 1 to 10,000; default 100.
    PushDevices.owner	Only devices of this key: z-base-32, hexadecimal or `npub`.
    PushRekeyed.changed	Tokens that are under the newest key now and were not before.
    PushRekeyed.keys	Keys in the ring.
    PushRekeyed.remaining	Tokens that are still under an older key, whose line in the key ring must stay.
    PushRekeyed.unreadable	Rows that no key can decrypt; they stay.
    PushSend.owner	The owner of the devices: z-base-32, hexadecimal or `npub`.
    PushSend.type	The wake's type.
    PushSend.waitMilliseconds	How long the answer waits for the platforms, in milliseconds; absent: not at all. A value above 20000 counts as that.
    PushSent.Outcome.advice	What the operator should check because of that.
    PushSent.Outcome.device	The device's name at its owner.
    PushSent.Outcome.platform	`ios`, `android` or `webpush`.
    PushSent.Outcome.reason	The platform's reason for not accepting it, or why it was not sent to the platform.
    PushSent.Outcome.state	`delivered`: the platform accepted it; `refused`: it was given up; `waiting`: it is retried until it expires; `off`: its platform is not configured, and it waits for that.
    PushSent.devices	The number of devices to wake.
    PushSent.outcomes	The outcome so far for each device; absent when the answer did not wait.
    PushSent.wake	32 hexadecimal digits.
    PushSettings.addressRegistrationsHour	Registrations from one address in an hour.
    PushSettings.admission	Who may wake owners that have set no policy.
    PushSettings.apnsEnvironment	Which of Apple's services is used.
    PushSettings.apnsKeyFile	The file of Apple's key; "" for none, and no APNs.
    PushSettings.apnsKeyID	The key's id, ten characters.
    PushSettings.apnsTeamID	The team's id, ten characters.
    PushSettings.apnsTopic	The app's bundle identifier.
    PushSettings.apnsURL	Another address than Apple's for APNs; "" for Apple's.
    PushSettings.audience	The audience that signatures name; "" for none.
    PushSettings.caFile	A file of certificate authorities that are trusted in addition to the system's; "" for none.
    PushSettings.certificateFile	The certificate chain, in PEM; "" for none.
    PushSettings.connectionsMaximum	The maximum number of connections.
    PushSettings.content	What platforms can see of a wake.
    PushSettings.devicesMaximum	Devices of one owner.
    PushSettings.disclosure	Which senders learn whether a key is registered.
    PushSettings.fcmAccountFile	The file of Google's service account; "" for none, and no FCM.
    PushSettings.fcmURL	Another address than Google's for FCM; "" for Google's.
    PushSettings.globalMinute	Requests of all in a minute.
    PushSettings.keyFile	The certificate's key, in PEM; "" when it is in the same file.
    PushSettings.keyRingFile	The file of the keys that encrypt tokens; "" for a file beside the ledger.
    PushSettings.listen	Addresses to listen at.
    PushSettings.nostrAgeMilliseconds	The age of the oldest event that wakes a device.
    PushSettings.nostrKeysMaximum	The maximum number of Nostr keys with devices.
    PushSettings.nostrOwners	Nostr keys that may register in addition to the accounts; npub or hexadecimal.
    PushSettings.nostrPauseMilliseconds	The pause between two wakes of a device for events.
    PushSettings.nostrRegistration	Which Nostr keys may register devices.
    PushSettings.nostrRelays	Whether relays are queried for events that wake the keys.
    PushSettings.origins	Origins whose web pages may send requests; `*` for all.
    PushSettings.prefixMinute	Requests from one address, or one /64, in a minute.
    PushSettings.prefixedPaths	Whether a signature over the requested path, `/v1/wake`, is valid too, in addition to one over `/wake`.
    PushSettings.publicURL	The URL that Nostr keys sign (NIP-98); "" when Nostr keys cannot register.
    PushSettings.recipientHour	Wakes to one recipient in an hour.
    PushSettings.registrationsHour	Registrations of one owner in an hour.
    PushSettings.senderHour	Wakes of one sender in an hour.
    PushSettings.senderMinute	Wakes of one sender in a minute.
    PushSettings.strangersHour	Wakes of strangers to one recipient in an hour.
    PushSettings.trustedProxies	Addresses of proxies whose `X-Forwarded-For` is believed, such as `127.0.0.1` or `10.0.0.0/8`.
    PushSettings.versionOne	What happens with signatures without an audience.
    PushSettings.webPush	Whether devices of Web Push are served.
    PushSettings.webPushContact	The operator's `mailto:` or `https:` for Web Push (RFC 8292); "" for none.
    PushSettings.webPushNeighbours	Whether services of Web Push may be in this machine's own networks.
    PushStatus.Events.devices	Devices that were registered with a Nostr key.
    PushStatus.Events.dismissed	Events that woke no device, by reason: `old`, `muted`, `off`, `own`, `unrelated`, `crowd`, `malformed`.
    PushStatus.Events.keys	Keys whose events are observed.
    PushStatus.Events.state	`idle`: there are no such devices; `following`; `away`: the event store does not answer.
    PushStatus.Events.wakes	Wakes since the ledger was made; those among accepted.
    PushStatus.Events.waking	Events that woke a device, alone or together with other events.
    PushStatus.Platform.advice	What the operator should check because of reason, as a question or an instruction; absent when there is nothing to check.
    PushStatus.Platform.againSeconds	Seconds until the next attempt while it is away; absent: at the next wake.
    PushStatus.Platform.delivered	Pushes that the service accepted.
    PushStatus.Platform.expired	Pushes that the service had not accepted when their wake expired.
    PushStatus.Platform.failed	Pushes given up, because the service refused the token or could not read the push.
    PushStatus.Platform.inFlight	Pushes in flight: sent and not answered yet.
    PushStatus.Platform.name	`ios`, `android` or `webpush`.
    PushStatus.Platform.pruned	Devices removed because the service no longer knows their token.
    PushStatus.Platform.reason	Why it is off or away; with `ready`, the service's reason for the last push that it refused.
    PushStatus.Platform.repeated	Pushes that were sent again after a failure.
    PushStatus.Platform.state	`off`: not configured; `ready`; `away`: its service does not answer, or refuses, and is retried.
    PushStatus.accepted	Wakes accepted since the ledger was made.
    PushStatus.addresses	The addresses at which it listens.
    PushStatus.certificateFault	Why the certificate in the files is not used, so that the one before it stays in use; absent: it is used.
    PushStatus.countedSince	When the counters started, seconds since 1970.
    PushStatus.devices	Registered devices.
    PushStatus.dropped	Wakes from strangers that were dropped silently.
    PushStatus.ended	Finished wakes, by outcome: `delivered`, `expired`, `coalesced`, `undeliverable`.
    PushStatus.events	Wakes for events of Nostr; absent when Nostr keys cannot register for them.
    PushStatus.platforms	The platforms.
    PushStatus.refused	Refused requests, by the error's code.
    PushStatus.underOlderKeys	Tokens that are encrypted under an older key, including those of expired devices until they are removed.
    PushStatus.unreadable	Rows that no key can decrypt.
    PushStatus.waiting	Wakes under way.
    PushStatus.webPushFault	What is wrong with the Web Push key: it is not the key under which devices are subscribed; absent: nothing.
    QueriedEvents.bytes	The event, or the page.
    QueriedEvents.isRaw	Whether it is a page.
    ReconcileBegin.filter	A NIP-01 filter; its `since` and `until` are the window of time.
    ReconcileBegin.messageByteMaximum	The most bytes of a message to the relay, before hexadecimal encoding: 4,096 to 60,000; by default 60,000.
    ReconcileBegin.namesAbsent	Whether `store.reconcile.received` also names the events that the relay lacks; default: no.
    ReconcileBegin.relay	The relay's URL.
    ReconcileClose.session	The session's number.
    ReconcileCounts.common	Events that the store and the relay have.
    ReconcileCounts.fetched	Of them, those that came.
    ReconcileCounts.needed	Events that the relay has named and the store lacked.
    ReconcileCounts.receivedBytes	Bytes of the relay: messages in hexadecimal digits, and events.
    ReconcileCounts.sentBytes	Bytes to the relay: messages in hexadecimal digits, and filters.
    ReconcileCounts.unavailable	Of them, those that were asked for and did not come.
    ReconcileCounts.windows	Windows of time that were compared to their end.
    ReconcileEnd.records	Events that were reconciled.
    ReconcileFound.common	How many of them the relay has too. Each is now recorded as seen at the relay.
    ReconcileFound.records	Events of the store that were compared.
    ReconcileMessage.bytes	The message.
    ReconcileMessage.session	The session's number, from 1.
    ReconcileOpen.filter	A NIP-01 filter. With a `limit`, only the newest events that match.
    ReconcileOpen.message	The first message, as hexadecimal digits.
    ReconcileOpen.recipients	The keys whose gift wraps may be reconciled: see RecipientList.
    RecordProgress.isRecording	Whether frames are being recorded; false while the recording waits for the worker's next start.
    RecordProgress.path	The file.
    RecordRequest.bytes	The maximum size of the file; absent: 64 MiB. Limited to between 256 KiB and 256 MiB.
    RecordRequest.ends	True ends the worker's current recording; all other members are then left out.
    RecordRequest.milliseconds	How long the recording lasts, counted from its first frame; absent: until a request ends it.
    RecordRequest.path	The file to create, an absolute path at which nothing exists yet; absent: a file in the state directory.
    RecordRequest.restart	Whether the worker is restarted first, so that the recording begins with HELLO.
    RecordRequest.worker	The worker's name.
    RecordResult.bytes	Its size.
    RecordResult.framesFromWorker	Frames from the worker in the file.
    RecordResult.framesMissing	Frames that are missing because the disk did not take them in time.
    RecordResult.framesToWorker	Frames to the worker in the file.
    RecordResult.isReplayable	Whether the file begins with HELLO and has every frame since, so that it can be replayed.
    RecordResult.path	The file.
    RecordResult.reason	Why it ended: `asked`, `time`, `size`, `connection` or `disk`.
    RecordResult.sentence	The same in a sentence.
    RecordResult.worker	The worker.
    Refusal.code	The stable word.
    Refusal.message	A sentence: what happened, where, and what to do.
    Refusal.outcome	Whether the work was begun. Absent in FATAL.
    Refusal.reason	Which cause of the code it is; absent when the code has only one.
    Refusal.retryAfterMilliseconds	After how many milliseconds a retry makes sense, if that is known.
    RefusalCode.bad-length	A length field out of bounds.
    RefusalCode.bad-payload	A payload that does not have the form that its type requires.
    RefusalCode.bad-request	The arguments are not valid.
    RefusalCode.bad-token	A token that was never issued, was used before, or has expired.
    RefusalCode.bad-version	A version byte that is not 1.
    RefusalCode.cancelled	The caller cancelled it.
    RefusalCode.deleted	Its author has deleted it (NIP-09, NIP-62).
    RefusalCode.denied	The access table does not allow it.
    RefusalCode.disk-full	The store has no room on its disk. Nothing was lost, and a later retry makes sense.
    RefusalCode.expired	The time to live has ended.
    RefusalCode.expired-event	Its own expiration has passed (NIP-40).
    RefusalCode.failed	A fault in the worker; the message says which.
    RefusalCode.forbidden	The caller's role may not have this signed.
    RefusalCode.forged-source	A header field that a peer must leave at zero, such as `source`.
    RefusalCode.full	No free seat, or a limit of this kind is reached.
    RefusalCode.gone	The endpoint no longer exists.
    RefusalCode.id-not-increasing	An id that is not greater than the one before.
    RefusalCode.idle	No message arrived for too long.
    RefusalCode.invalid	The event to store is not valid.
    RefusalCode.invoice-refused	The invoice is invalid or above a bound.
    RefusalCode.job-over	The job has ended and cannot be cancelled.
    RefusalCode.locked	The account is locked, and its passphrase did not come in time.
    RefusalCode.missed	More events arrived than the store keeps for this observer. A new observation starts with the stored events.
    RefusalCode.name-taken	A running worker has the name.
    RefusalCode.name-unreachable	The name's server cannot be reached.
    RefusalCode.no-credit	A frame sent without enough credit.
    RefusalCode.no-information	The relay's server answers, but has no information document.
    RefusalCode.no-relays	There is no relay to send the event to.
    RefusalCode.no-such-account	No such account.
    RefusalCode.no-such-conversation	There is no such conversation.
    RefusalCode.no-such-event	The event is not stored.
    RefusalCode.no-such-job	No job of this id, key or event.
    RefusalCode.no-such-name	The name's server answers, but not with a key for this name.
    RefusalCode.no-such-observe	Nothing was observed under this id.
    RefusalCode.no-such-post	There is no such post.
    RefusalCode.no-such-relay	The connector does not dial this relay.
    RefusalCode.no-such-session	The caller has no session of this number.
    RefusalCode.no-such-snapshot	The worker does not keep this state of its files, or no longer.
    RefusalCode.no-such-version	The changes apply to a version that the connector does not have.
    RefusalCode.not-fresh	It is not proven that the version that is known here is the newest: relays have not answered.
    RefusalCode.not-listening	The page's address cannot be listened at.
    RefusalCode.not-permitted	A process of another user, or a descendant of a managed worker.
    RefusalCode.not-reading	The peer does not read what it requested.
    RefusalCode.not-sent	No relay has it when the wait was over, and it was called off.
    RefusalCode.nothing-to-pay	No provider asks for a payment.
    RefusalCode.out-of-turn	A frame out of turn: before HELLO, a second HELLO, READY twice.
    RefusalCode.own-relay	The relay belongs to this Roost: see OwnAddresses.
    RefusalCode.provider-needed	Several providers ask for a payment; the caller must name one.
    RefusalCode.quarantined	Delivered three times, and the worker died each time: kept as a dead letter.
    RefusalCode.rate-limited	The caller's role has used up its requests for this time; `retryAfterMilliseconds` says when it may send more.
    RefusalCode.rawValue	The word itself.
    RefusalCode.replaced	The same caller has opened a new observation under the same id.
    RefusalCode.sealed-for-another	A sealed secret was sealed for an earlier process of the signer.
    RefusalCode.superseded	A newer event has replaced it (NIP-01).
    RefusalCode.too-many	The filter matches more events than one session may have.
    RefusalCode.too-slow	No HELLO within the deadline, or a frame that stayed incomplete.
    RefusalCode.unavailable	No worker serves it now, and no restart is under way.
    RefusalCode.unknown-flags	A flag bit without a meaning.
    RefusalCode.unknown-method	No such method, topic or role in the registry.
    RefusalCode.unknown-type	An unknown frame type, or one this peer may not send.
    RefusalCode.worker-died	The worker died while it handled the request.
    RefusalCode.would-replace	The event would remove entries from a list, or it is not known whether it would, and the caller has not confirmed that it wants this.
    RefusalCode.wrong-passphrase	The passphrase does not open the key.
    RefusalReason.rawValue	The word itself.
    RelayCount.account	The account that authenticates if the relay requires it, 64 hexadecimal digits; default: none.
    RelayCount.filter	A NIP-01 filter.
    RelayCount.isForeign	Whether only others name the relay: it is then not dialled at a private address. Absent: no.
    RelayCount.relay	The relay; may be left out when the connector has exactly one.
    RelayCounted.count	Events, by its word.
    RelayCounted.isApproximate	Whether the relay says that the count is not exact.
    RelayCounted.relay	The relay that answered.
    RelayDesire.base	The version that these changes apply to; absent: `changed` is the complete state.
    RelayDesire.changed	New and changed subscriptions, each complete.
    RelayDesire.generation	The generation of the planner.
    RelayDesire.removed	Keys of subscriptions that are no longer wanted.
    RelayDesire.version	The number of this state; higher than that of the state before.
    RelayDesireResult.version	The version that the connector has now.
    RelayInformationRequest.isForeign	Whether the relay was named by someone else, in a list or a hint; it is then not queried at a private address.
    RelayInformationRequest.relay	The relay.
    RelayInformationResult.Bound.name	Its name in NIP-11: `max_subscriptions`.
    RelayInformationResult.Bound.source	Where it comes from.
    RelayInformationResult.Bound.value	Its value.
    RelayInformationResult.bounds	The bounds in force.
    RelayInformationResult.document	What could be read, under the names of NIP-11.
    RelayInformationResult.dropped	What was dropped because it does not have the form of NIP-11, one sentence each: `supported_nips is not a list of numbers`.
    RelayInformationResult.fetchedAt	When it was fetched, seconds since 1970.
    RelayInformationResult.relay	Canonical URL.
    RelayPublications.account	As in PublicationExchange.
    RelayPublications.after	As in PublicationExchange, by the other's numbers.
    RelayPublications.publications	What was published here, as in PublicationExchange.
    RelayPublications.relay	The URL of the other Roost, with PeerPath.
    RelayPublish.account	The account that authenticates if the relay requires it, 64 hexadecimal digits; default: none.
    RelayPublish.event	The signed event, as JSON.
    RelayPublish.isForeign	Whether the relay was named by someone else, in a list or a hint; it is then not dialled at a private address.
    RelayPublish.isProtected	Whether the event is sent only on a connection that is authenticated as `account` (NIP-70). Needs `account`.
    RelayPublish.relay	The relay; may be left out when the connector has exactly one.
    RelayPublishResult.id	The event's id.
    RelayPublishResult.isAccepted	Whether the relay accepted it.
    RelayPublishResult.message	The relay's words, with their standard prefix.
    RelayPublishResult.relay	The relay that answered.
    RelayReconcile.account	The account that authenticates if the relay requires it, 64 hexadecimal digits; default: none.
    RelayReconcile.countsOnly	Whether nothing is fetched: the counts say how much the store lacks. Absent: it is fetched.
    RelayReconcile.filter	A NIP-01 filter, without `limit` and `search`.
    RelayReconcile.isForeign	Whether only others name the relay: it is then not dialled at a private address. Absent: no.
    RelayReconcile.relay	The relay; may be left out when the connector has exactly one.
    RelayReconcile.since	The first second of the window, since 1970; default: 0.
    RelayReconcile.until	The last second of the window, not before the first; default: now.
    RelayReconcileResult.counts	What was counted. Events that came are in the store, however it ended.
    RelayReconcileResult.end	How it ended.
    RelayReconcileResult.reason	Why it did not end with `complete`.
    RelayReconcileResult.relay	Canonical URL.
    RelayRemark.about	With a refusal: what it is about, as in `refusalsByClass` of `relay.list`: `authentication`, `restricted` (to members, or to those who pay). Absent: not a refusal, or an answer of an earlier version.
    RelayRemark.at	The last time, seconds since 1970.
    RelayRemark.count	The number of times, since the connector first connected to it.
    RelayRemark.kind	The kind of the remark.
    RelayRemark.limit	With `capped`: the number of events.
    RelayRemark.text	The relay's own latest words, without control characters, at most 120 characters; empty when it gave none. None of it is proven.
    RelayReport.dialsOthers	Whether it dials relays that belong to no group (`ephemeral = true`). Absent: unchanged, and in a complete report false.
    RelayReport.generation	The planner's generation that the wanted subscriptions are from; absent before the first.
    RelayReport.isWhole	Whether the report is complete; otherwise it holds what changed since the part before.
    RelayReport.relays	Relays.
    RelayReport.requests	States of the wanted subscriptions.
    RelayReport.version	Their version.
    RelayRequest.all	Whether the relay is asked in pages for all that it has, back to each filter's `since`; the filters' own limits do not count then. Absent: one REQ, and the relay decides how much it sends.
    RelayRequest.filters	NIP-01 filters, as JSON; absent: one filter that matches everything.
    RelayRequest.isForeign	Whether only others name the relay: it is then not dialled at a private address. Absent: no.
    RelayRequest.limit	The maximum number of events, from 0; the connector closes the subscription after so many.
    RelayRequest.relay	The relay; may be left out when the connector has exactly one.
    RelayRequestResult.end	With `all`: how it ended.
    RelayRequestResult.events	Events passed on.
    RelayRequestResult.isComplete	Whether the relay sent EOSE, with `all` whether everything came; false when `limit` was reached first.
    RelayRequestResult.reason	With `all`: why not everything came.
    RelayRequestResult.relay	The relay that answered.
    RelayRetry.onlyBackOff	Whether only the back-off ends: a quarantine stays, and what was learned of the relay. Default: no.
    RelayRetry.relay	The relay.
    RelayStateWord.rawValue	The word itself.
    RelayStates.Latencies.accepted	From an EVENT to its OK.
    RelayStates.Latencies.connect	From dialling a relay to an open connection.
    RelayStates.Latencies.stored	From a REQ to its EOSE.
    RelayStates.Latency.counts	How many took up to 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250 and 500 milliseconds, 1, 2.5, 5, 10 and 30 seconds, and longer; each is in one span only. Empty: none was measured.
    RelayStates.Latency.sumMicroseconds	How long they took together, in microseconds.
    RelayStates.Outside.dials	Dials.
    RelayStates.Outside.ended	Dials and connections that have ended.
    RelayStates.Outside.milliseconds	How long those lasted together, from the dial to the end, in milliseconds.
    RelayStates.Outside.newEvents	Events of such relays that the store lacked.
    RelayStates.Relay.accepted	Events that the relay accepted.
    RelayStates.Relay.authenticate	Which key it sees when it asks for authentication. Absent: the account of the work.
    RelayStates.Relay.authenticated	Accounts that have authenticated on this connection (NIP-42), 64 hexadecimal digits each.
    RelayStates.Relay.authenticationFailures	Those of them that failed: the relay refused, or sent no challenge to sign. Absent: none.
    RelayStates.Relay.authentications	Authentications there that have ended (NIP-42). Absent: none.
    RelayStates.Relay.bytes	Their bytes together.
    RelayStates.Relay.connectMilliseconds	Milliseconds from dialling it to an open connection: a moving average, of which the last one is an eighth.
    RelayStates.Relay.connections	The number of connections that succeeded.
    RelayStates.Relay.dialledMilliseconds	How long ago it was first dialled, in milliseconds. Absent: it was not.
    RelayStates.Relay.drains	How often fetching the stored events of an interest ended, by End: `drained`, `silent`. Absent: never.
    RelayStates.Relay.events	Events received.
    RelayStates.Relay.failures	The number of attempts that failed.
    RelayStates.Relay.failuresInRow	The number of attempts that failed since the last connection. Absent: none.
    RelayStates.Relay.forgedEvents	Different ones of them that look like events: forgeries. Absent: none.
    RelayStates.Relay.invalidEvents	Events of it that the store has rejected: not signed by their author, or no events. Absent: none.
    RelayStates.Relay.isConfigured	Whether `supervisor.conf` names it; otherwise a caller named it.
    RelayStates.Relay.latencyMilliseconds	Milliseconds from the last REQ to its EOSE, or EVENT to its OK.
    RelayStates.Relay.mayRefuseWrites	Whether the relay says that it takes events only from some authors, or only against payment (NIP-11).
    RelayStates.Relay.messages	Messages received.
    RelayStates.Relay.newEvents	Events of it that the store lacked. Absent: none.
    RelayStates.Relay.openMilliseconds	How long it was open, over all connections, in milliseconds.
    RelayStates.Relay.openSince	Since when the connection is open, seconds since 1970; absent when it is not.
    RelayStates.Relay.pages	Pages of stored events that it has sent. Absent: none.
    RelayStates.Relay.queuedCount	Requests that wait for the connection or for a free subscription.
    RelayStates.Relay.reads	Whether the planner opens subscriptions there by default.
    RelayStates.Relay.reason	Why it is not connected; absent when it is.
    RelayStates.Relay.refusals	Requests and events that it refused.
    RelayStates.Relay.refusalsByClass	refusals by what they are about: `rate`, `blocked`, `authentication`, at most one entry for each word of the connector's table. Absent: none.
    RelayStates.Relay.relay	Canonical URL.
    RelayStates.Relay.remarks	What the relay said or did that its user may want to know, at most one of each kind; absent when there is nothing, and in RelayReport and `relay.states`.
    RelayStates.Relay.state	The state of its connection.
    RelayStates.Relay.storedMilliseconds	Milliseconds from a REQ to its EOSE: such an average.
    RelayStates.Relay.subscriptionCount	Subscriptions that are open.
    RelayStates.Relay.subscriptionMaximum	The maximum number of subscriptions that are opened there: as the relay says (NIP-11), has taught by refusals, or as is assumed.
    RelayStates.Relay.waitsForBudget	Whether it waits only because the budget of relays outside the groups is used up; the connector then dials it by itself. Absent: no.
    RelayStates.Relay.writes	Whether the planner publishes events there by default.
    RelayStates.latencies	How long relays took to answer; absent in `relay.states`, and in answers of earlier versions.
    RelayStates.outside	What came of the dials of relays that no group has; absent when the connector dials none.
    RelayStates.relays	All relays of the connector.
    ReloadRequest.dryRun	Only report what would change.
    ReloadResult.changes	What differs, one paragraph each; empty when nothing does.
    ReloadResult.isApplied	Whether the changes are in force.
    ReloadResult.remarks	What a reload does not do although a user may expect it, one line each, such as workers that stay failed; absent: nothing.
    ReloadResult.warnings	Settings that are allowed but probably a mistake, one line each, as `roostd --check` reports them; absent: no such settings.
    ReplacedList.account	The author's account, if this Roost has it.
    ReplacedList.after	The number of entries of the version that counts now, if that was published here.
    ReplacedList.author	Its author, 64 hexadecimal digits.
    ReplacedList.before	The number of its entries.
    ReplacedList.event	The event; only when the request named this version.
    ReplacedList.id	The event's id.
    ReplacedList.identifier	The identifier of a set (its tag `d`); empty for other lists.
    ReplacedList.kind	Its kind.
    ReplacedList.replacedAt	When the next version replaced it, seconds since 1970.
    RequestReport.end	How fetching the stored events ended; absent before the first end.
    RequestReport.events	Events received since the planner wanted it.
    RequestReport.isAboutRelay	With `refused`: whether the relay refused because of its own bounds or of the account, and not because of the filters. To ask for less, or in parts, does not help then.
    RequestReport.key	Its key.
    RequestReport.pages	Pages of stored events that have ended.
    RequestReport.reason	Why it waits or was refused; with `asked`, why its EOSE is no longer expected.
    RequestReport.relay	The relay.
    RequestReport.state	Its state.
    RequestReport.storedAt	When the stored events were here, seconds since 1970; present with `stored`, and kept after a disconnection.
    ResolvedName.fetchedAt	When the server was asked, seconds since 1970.
    ResolvedName.name	The name as it was looked up, in lower case.
    ResolvedName.pubkey	The key, 64 hexadecimal digits.
    ResolvedName.relays	The relays that the server gives for this key, canonical URLs; they are foreign.
    RetriedPublications.oldestAt	When the oldest of them was accepted, seconds since 1970; absent: there was nothing to try.
    RetriedPublications.publications	Publications of that age that have not ended.
    RetriedPublications.relays	Relays that they still wait for, all publications together.
    Role.backup	Makes backups.
    Role.client	Applications, scripts and the `roost` command.
    Role.dvm-provider	Does jobs for customers.
    Role.dvm-tracker	Keeps the ledger of jobs.
    Role.event-store	Verifies and keeps events.
    Role.link-feed	Keeps links and messages that come in gift wraps, and sends them.
    Role.link-page	Shows links to a person in a browser, and runs the programs for them.
    Role.local-relay	A relay on localhost.
    Role.mirror	Has everything of one's own fetched.
    Role.name	The name in HELLO and in `supervisor.conf`.
    Role.number	The number in a header, 0 … 127.
    Role.outbox-planner	Decides which relays are queried and which events go where.
    Role.people	Edits lists, and knows the people of accounts.
    Role.push-relay	Wakes phones.
    Role.relay-connector	Connects to relays.
    Role.signer	Holds keys.
    Role.supervisor	The supervisor and hub itself.
    Role.worker	Any worker: the server of the methods that workers of several roles serve. No worker has it as its own.
    Route.Cover.counts	How many people are asked for at 0, 1, 2, 3, and 4 or more of the relays that their lists name.
    Route.Cover.missing	They, 64 hexadecimal digits each; at most 100.
    Route.Cover.missingCount	How many have a list, and are asked for at none of its relays now: each is blocked, cannot be reached, or waits for its visit.
    Route.Cover.unlisted	They, 64 hexadecimal digits each; at most 100.
    Route.Cover.unlistedCount	How many have no list that is known.
    Route.Stop.connector	The worker that holds the connection; absent when none dials the relay.
    Route.Stop.people	For which people, 64 hexadecimal digits each: authors whose events are queried there, or people who are to find the event there; empty: everyone. Of more than 100 the first.
    Route.Stop.peopleCount	How many people that are; absent when `people` has all of them.
    Route.Stop.reason	Why the relay is not connected: the dial budget, a failure.
    Route.Stop.relay	The relay.
    Route.Stop.state	The state of the connection, as in `relay.list`.
    Route.Stop.why	Why this relay was chosen: each reason once.
    Route.cover	How the people whom the filters name are covered; absent for an event, and for filters that name no people.
    Route.problem	Why there is no relay; absent when there is one.
    Route.skipped	Relays that would belong to the route but are not used, with the reason: blocked, private address, budget.
    Route.stops	The relays.
    SealedSecret.key	The sender's public key for this message, 64 hexadecimal digits.
    SealedSecret.payload	The NIP-44 payload.
    SeenResult.Relay.firstSeenAt	When it first arrived from there, seconds since 1970.
    SeenResult.Relay.relay	Its URL.
    SeenResult.id	The event's id.
    SeenResult.relays	The relays, in the order in which they first sent it.
    SeenResult.seq	Its place in the order of commits.
    SentLink.Copy.message	Why it is not sent, in words of relays or of the planner.
    SentLink.Copy.recipient	The recipient, 64 hexadecimal digits; the account itself for the copy to oneself.
    SentLink.Copy.relays	The relays that have it.
    SentLink.Copy.stage	How far it is.
    SentLink.Copy.wrap	The id of the gift wrap.
    SentLink.conversation	The conversation.
    SentLink.copies	How far each copy is.
    SentLink.id	The id of the rumor, 64 hexadecimal digits: what the post, reply or message is named by.
    SentLink.remarks	Further remarks for the sender.
    SentLink.session	The name of the session that it is in; absent: it is in none.
    SentLink.stage	How far it is, over all recipients but the account itself.
    ServedJob.customer	The customer's public key, 64 hexadecimal digits.
    ServedJob.endedAt	When it ended, seconds since 1970.
    ServedJob.kind	The kind of the request.
    ServedJob.reason	Why it failed.
    ServedJob.request	The request event's id.
    ServedJob.result	The result event's id.
    ServedJob.state	Its state.
    ServedJob.takenAt	When it was accepted, seconds since 1970.
    ServedJobs.limit	The maximum number of requests, from 0.
    ServingStatus.Service.answered	Requests answered with a result.
    ServingStatus.Service.failed	Requests that ended with an error.
    ServingStatus.Service.kind	The kind of its requests.
    ServingStatus.Service.price	The price, in millisatoshi.
    ServingStatus.Service.program	`count`, `search`, or the program's path.
    ServingStatus.Service.running	Jobs running now.
    ServingStatus.Service.taken	Requests accepted.
    ServingStatus.countedSince	When the counters started, seconds since 1970.
    ServingStatus.isOnNetwork	Whether relays are queried for requests, and answers sent to them.
    ServingStatus.passedOver	Requests that were not accepted: addressed to another provider, too large, unreadable, expired. Also requests for which there was no room when they arrived, even if they were accepted later.
    ServingStatus.provider	The public key that answers, 64 hexadecimal digits; absent until the signer has reported it.
    ServingStatus.services	What is served, by kind.
    ServingStatus.unpaid	Requests with a bill that is not paid yet.
    ServingStatus.waiting	Requests that wait in the queue.
    SignedEvent.bytes	Its bytes.
    SignedEvent.isRaw	Whether the sender marked the bytes as RAW, which is wrong for an event.
    SignerAccount.createdAt	When the signer got the key, in seconds since 1970.
    SignerAccount.isEncrypted	Whether the stored key is encrypted with a passphrase (NIP-49).
    SignerAccount.isForgetting	True: it is left, and to be forgotten: role `people` may remove its key. Absent otherwise.
    SignerAccount.isLeft	True: it is left (`signer.leave`). Its key is locked, nothing is asked of relays for it, and everything is kept. Absent otherwise.
    SignerAccount.isReadOnly	True: only its public key is here (`signer.watch`), so it is locked for good: what needs the secret key is refused at once. `signer.import` with the secret key ends that. Absent otherwise.
    SignerAccount.isUsed	True: it is meant where no account is named (`signer.use`). Absent otherwise.
    SignerAccount.name	Lower case letters, digits, `-` and `_`, at most 32.
    SignerAccount.npub	The same as people write it.
    SignerAccount.origin	Where the key is.
    SignerAccount.publicKey	64 hexadecimal digits.
    SignerAccount.state	Whether it can be used now.
    SignerAccounts.accounts	By name.
    SignerAccounts.isMemoryLocked	Whether keys are locked into memory, so that they are never written to a swap partition.
    SignerAccounts.problems	Key files that were refused, as sentences that say what to do.
    SignerAccounts.refused	The refused keys among them that would be accounts.
    SignerAccounts.sealingKey	For SealedSecret: the public key of this process of the signer, 64 hexadecimal digits.
    SignerAccounts.waiting	Requests that wait for an account to be unlocked.
    SignerAuthenticate.account	The account that authenticates.
    SignerAuthenticate.challenge	The challenge that the relay sent, 1 … 512 bytes.
    SignerAuthenticate.relay	The relay, in its canonical spelling.
    SignerChanges.accounts	By name.
    SignerChoose.account	The account.
    SignerCipher.account	The account whose key is used.
    SignerCipher.event	For decrypting, instead of text: the peer's event that has the text as its content, whole and signed. A worker that may read only some kinds proves the kind with it.
    SignerCipher.peer	The public key of the other side: 64 hexadecimal digits or `npub`.
    SignerCipher.text	The text to encrypt or decrypt. The frame and the NIP limit its length.
    SignerDataKey.account	The account's public key, 64 hexadecimal digits.
    SignerDataKey.key	The 32 bytes, sealed for the caller.
    SignerDataKey.text	What the caller stores.
    SignerDataKeyRequest.account	The account, which must be unlocked.
    SignerDataKeyRequest.sealingKey	A public key that the caller has made for this one answer: the data key is sealed for it.
    SignerDataKeyRequest.text	The text of an earlier answer; absent: a new key is made.
    SignerGenerate.name	The account's name.
    SignerGenerate.passphrase	Encrypts the stored key; without one it is stored unencrypted.
    SignerImport.isLeft	Whether a new account is left at first (`signer.leave`): nothing is asked of relays for it until `signer.unlock`. An account that is here already stays as it is. Absent: no.
    SignerImport.name	The account's name.
    SignerImport.passphrase	For an `ncryptsec`, the passphrase that opens it and stays its passphrase; otherwise the passphrase to store the key under, if any.
    SignerImport.secret	`nsec1…`, `ncryptsec1…` or 64 hexadecimal digits.
    SignerLeave.account	The account.
    SignerLeave.isForgetting	Whether `people.forget` follows: role `people` may then remove the key. An account that is already left for that stays so without it.
    SignerLock.account	The account; all encrypted ones when absent.
    SignerPassphrase.account	The account; may be left out while there is exactly one.
    SignerPassphrase.new	The new passphrase; absent: the key is stored unencrypted.
    SignerPassphrase.present	Its present passphrase, also while it is unlocked; absent for a key that is stored unencrypted.
    SignerRefusedKey.account	The name of the account that it would be.
    SignerRefusedKey.place	`a key file alice.key`, `a credential roost.key.alice`.
    SignerRefusedKey.reason	Why, as the end of a sentence.
    SignerRefusedKey.remedy	What to do about it.
    SignerRemove.name	The account's name.
    SignerRemove.publicKey	Its public key, so that the caller does not remove a different key than it intends.
    SignerSettings.signKinds	The kinds that a role of the file's own may have signed: `role:kind` or `role:kind-kind`, optionally followed by `@account`.
    SignerSettings.workerAccounts	The account of each provider of jobs, by the provider's name; set by roostd, see WorkerAccounts.
    SignerSign.account	The account that signs.
    SignerSign.allowSecrets	Whether it may contain `nsec1…` or `ncryptsec1…`; default: false.
    SignerSign.deleted	For a deletion (NIP-09) by a worker that may delete only some kinds: the events that its `e` tags name, whole and signed, so that the signer knows their kinds; at most 16. Other callers need not send them.
    SignerSign.event	`kind`, and optionally `content`, `tags`, `created_at` (default: now) and `pubkey` (it must be the account's). Any other member is refused, and so are tags `p`, `e`, `a`, `q` without a valid reference.
    SignerSigned.event	The event with id and signature.
    SignerText.text	The text.
    SignerUnlock.account	The account; may be left out while exactly one is locked.
    SignerUnlock.passphrase	Its passphrase; absent for an account that is left and whose key is stored unencrypted.
    SignerUnwrap.account	The recipient's account; default: the account that one of its `p` tags names.
    SignerUnwrap.wrap	The gift wrap.
    SignerUnwrapped.author	The author, proven by the seal's signature.
    SignerUnwrapped.recipient	The recipient's account, 64 hexadecimal digits.
    SignerUnwrapped.rumor	The rumor, with its id and without a signature.
    SignerUnwrapped.warnings	What is unusual about it, each as the end of a sentence.
    SignerWatch.name	The account's name.
    SignerWatch.publicKey	Its public key, 64 hexadecimal digits or `npub`.
    SignerWrap.account	The account that is the author.
    SignerWrap.allowSecrets	Whether it may contain `nsec1…` or `ncryptsec1…`; default: false.
    SignerWrap.expiration	When relays may drop it, in seconds since 1970 (NIP-40).
    SignerWrap.isEphemeral	Whether relays are not to store it (kind 21059).
    SignerWrap.recipient	The recipient: 64 hexadecimal digits or `npub`.
    SignerWrap.relayHint	A relay of the recipient, for the `p` tag.
    SignerWrap.rumor	An event as for `signer.sign`; it is not signed.
    SignerWrapped.rumor	The rumor with its id, for the sender to keep.
    SignerWrapped.wrap	The gift wrap, to send to the recipient's relays.
    SigningRule.account	The account that the rule applies to, in the notation of the rule; nil: all accounts.
    SigningRule.kinds	The kinds, without 22242.
    SigningRule.role	The role's name; never one of Roost's own roles.
    SourceRelays.Relay.events	How many of the events it sent.
    SourceRelays.Relay.relay	Its URL. Its first mention may be a stranger's: it is foreign, unless something else names it too.
    SourceRelays.relays	Those that sent the most first; at most 64.
    StatusRequest.memory	Also measure proportional memory, which costs a walk through the pages of each process.
    StopCommand.drainMilliseconds	How long it may finish what is in flight; absent: the configured time.
    StopCommand.worker	The worker's name.
    StoreAcknowledge.id	The caller's name for the observation.
    StoreAcknowledge.seq	The last seq that the caller has handled; a lower one than before changes nothing.
    StoreCount.bytes	For `store.count` with `bytes`: the bytes of these events, as JSON.
    StoreCount.count	The number of events.
    StoreCount.isComplete	For `store.query`: whether all stored events that match were sent; false when a limit cut them off and there are more. Absent when the store would have to search further to know.
    StoreCount.oldest	For `store.count` with `bytes`: when the oldest of them was created, seconds since 1970; absent without any.
    StoreCount.unsearched	After a search: how many of the newest seqs were not searched, because their words are not indexed yet; absent when none.
    StoreCoverage.filters	The filters; at most filterMaximum. Intervals ignore their times and limits.
    StoreCoverage.inParts	Whether each filter is answered in parts of which the same is covered, by author or tag value and kind; together they are the filter, and some may have no coverage. It needs exactly one relay. Absent: false.
    StoreCoverage.relays	Only these relays; all relays when absent.
    StoreDelivery.authors	The authors, 64 hexadecimal digits each; 1 to 1000.
    StoreDelivery.kinds	Only events of these kinds, at most 32; all when absent. A relay counts for a kind if it was asked for this kind alone, or for all kinds.
    StoreDelivery.since	Only events created since this second.
    StoreDelivery.until	Only events created up to this second.
    StoreFetched.at	When the relays were queried, seconds since 1970; default: now.
    StoreFetched.filters	The filters of an ActiveObserve.
    StoreFetched.relays	Its relays.
    StoreObserve.afterSeq	The last seq that the caller has received.
    StoreObserve.exclusiveRelays	Only `relays` are queried, and only events count that were seen there.
    StoreObserve.filters	NIP-01 filters; at most 64.
    StoreObserve.id	The caller's own name for this observation, 1 to 64 bytes. A later observation under the same name continues after the last seq that the caller gave with `store.acknowledge` or as `afterSeq`.
    StoreObserve.maxAge	In seconds: the network is not queried if it was queried for the same filters within this time. Default 0: it is always queried. Has an effect only with `cache-with-network`.
    StoreObserve.networkLimit	How many of the newest events are fetched from each relay for a filter without `since`; from 1. Absent: all that the filter matches.
    StoreObserve.pages	Whether events come in pages.
    StoreObserve.policy	Where events come from; default: `cache-with-network`.
    StoreObserve.recipients	The keys whose gift wraps the store may send: see RecipientList.
    StoreObserve.relays	Relays to query in addition to those that the planner chooses; at most 32.
    StoreObserve.superseded	Whether events that come now and are older than the stored version of the same list are sent too, as ephemeral ones are: without a seq, and not stored. Then the part of each version of a list that comes now names the `relay` that sent it, and each further relay's copy is sent again in this way; not in pages. Absent: no.
    StoreQuery.bytes	For `store.count`: whether the answer also has the events' bytes and the time of the oldest; refused by `store.query`. Absent: false.
    StoreQuery.filters	NIP-01 filters; each may have its own `limit`.
    StoreQuery.limit	The maximum number of events of all filters together, from 0.
    StoreQuery.pages	Whether parts are pages; ignored by `store.count`, which has no parts.
    StoreQuery.recipients	The keys whose gift wraps the store may send and count: see RecipientList.
    StoreSeen.id	The event's id, 64 hexadecimal digits.
    StoreSettings.foreignLimitBytes	The maximum of bytes for all foreign events together.
    StoreSettings.keepAuthors	Public keys of authors whose events are never removed; npub or hexadecimal.
    StoreSettings.recentEventsBytes	Bytes of recent events kept in memory.
    StoreSettings.sampleFloor	The lowest percentage that is checked, 1 to 100.
    StoreSettings.sampleRate	The percentage of their events that is checked at first, 1 to 100.
    StoreSettings.sampleRelays	The URLs of relays for which a sample is enough.
    StoreSettings.sizeLimitBytes	Used bytes above which events are removed; 0 for no limit.
    StoreSettings.verification	Which signatures are checked.
    StoreSources.authors	The authors, 64 hexadecimal digits each; 1 to 64.
    StoreStatus.Relay.forged	Forged events: not what an author signed.
    StoreStatus.Relay.isDistrusted	Whether only a sample of its events was to be checked, and now all are, because of forgeries.
    StoreStatus.Relay.relay	Its URL.
    StoreStatus.Relay.valid	Signatures checked and found good.
    StoreStatus.Rescue.aside	The damaged file. Once it is removed, the rescue is no longer reported.
    StoreStatus.Rescue.at	When it happened, seconds since 1970.
    StoreStatus.Rescue.lost	Events lost; absent when the damaged file did not show how many it had.
    StoreStatus.Rescue.saved	Events in the new database.
    StoreStatus.SeqRange.first	The first.
    StoreStatus.SeqRange.last	The last.
    StoreStatus.bytes	Bytes of the database file and its log.
    StoreStatus.damaged	Events that did not match their ids and were removed. Reported for a week; absent: none.
    StoreStatus.duplicates	Events that needed no check, because they were known.
    StoreStatus.events	Events stored.
    StoreStatus.evicted	Events removed to make room.
    StoreStatus.fault	Why nothing can be written at present; absent when it can.
    StoreStatus.foreignBytes	Bytes of the events that clients of the local relay sent and no account signed, as `foreign-limit` counts them; absent: none.
    StoreStatus.invalid	Events refused as invalid.
    StoreStatus.isFull	True when the limit is reached and no event may be removed.
    StoreStatus.limitBytes	The limit; absent without one.
    StoreStatus.lost	Events that were committed but missing from the database at a start: lost to damage or a power failure, or because the file was removed or replaced. Reported for a week; absent when none is known.
    StoreStatus.observers	Observations under way.
    StoreStatus.path	The database file.
    StoreStatus.relays	The relays that sent the most forgeries, the worst first; at most 8.
    StoreStatus.rescued	The last rescue of a damaged database, as long as the damaged file is beside it.
    StoreStatus.seq	The last seq.
    StoreStatus.transactions	Transactions committed.
    StoreStatus.unchecked	Events of sampled relays that were accepted without a check of their signatures.
    StoreStatus.unsearched	Seqs whose words are not indexed yet (NIP-50). The store indexes them when it is idle, or for a search.
    StoreStatus.usedBytes	Used bytes of the database, which `size-limit` limits: the file keeps the room of removed events.
    StoreStatus.verified	Signatures checked.
    StoreStatus.waiting	Events waiting, by lane: local, live, bulk.
    StoreTrim.bytes	The bytes of JSON that may stay.
    StoreTrim.filters	NIP-01 filters, whose limits are ignored; at most filterMaximum.
    StoreTrim.keep	Events that one of these filters matches stay, and count; at most filterMaximum.
    StoreTrim.spared	Authors whose events go only when no other is left: 64 hexadecimal digits each, at most 10000.
    StoreTrimmed.bytes	Bytes of events that match and are left. More than was asked for: what is too much may not be removed, or there is more of it than one request removes.
    StoreTrimmed.isComplete	Whether no further request with the same arguments would remove anything.
    StoreTrimmed.removed	Events that were removed.
    StoreTrimmed.since	Strangers' events from this second on are within the bound, seconds since 1970; those before are not. Absent: all are.
    StoreTrimmed.sparedSince	The same for the authors that are spared.
    StoreUnseen.author	The author, 64 hexadecimal digits.
    StoreUnseen.besides	Relays that do not count, other Roosts: what only they sent is unseen. At most 16.
    StoredEnd.isComplete	Whether all stored events that match were sent; false when a limit cut them off and there are more. Absent when the store would have to search further to know, and when the observation was resumed.
    StoredEnd.isStoredEnd	Always true: it distinguishes this part from an event.
    StoredEnd.seq	All events up to this seq have been sent. A caller that reconnects passes it as `afterSeq`.
    StoredEnd.unsearched	With a search among the filters: how many of the newest seqs were not searched, because they are not indexed yet; absent when none. Events that arrive from now on are not missed.
    Stream.declaration	The declaration without its types.
    SupervisorConfigurationFile.folders	The folders in the state directory that belong to workers, of this configuration or of an earlier one.
    SupervisorConfigurationFile.path	Its path; nil when roostd runs without one.
    SupervisorConfigurationFile.text	Its text.
    SupervisorEvent.from	The state it left; `absent` for a worker that was started by hand, is in no configuration, and has joined.
    SupervisorEvent.sentence	The reason.
    SupervisorEvent.time	Wall time, RFC 3339.
    SupervisorEvent.to	Its state now; `absent` when such a worker has left; the same as from when the event changed no state, such as when a message that killed the worker was set aside.
    SupervisorEvent.worker	The worker.
    SupervisorStatus.clients	Clients connected now.
    SupervisorStatus.configuration	The configuration file.
    SupervisorStatus.counters	Counters of the hub, by name; they only grow.
    SupervisorStatus.deadLetters	Number of dead letters.
    SupervisorStatus.keptBytes	Payload bytes kept in mailboxes and with unanswered requests.
    SupervisorStatus.latestDeadLetters	The latest of them, the latest first, without their payloads; at most 8. Absent: none, or an answer of an earlier version.
    SupervisorStatus.pid	Process id of roostd.
    SupervisorStatus.residentBytes	Resident memory of roostd, in bytes.
    SupervisorStatus.socket	The socket.
    SupervisorStatus.uptimeMilliseconds	Milliseconds since roostd started.
    SupervisorStatus.version	Version of roostd.
    SupervisorStatus.workers	The workers, in the order of the file.
    SupervisorVersion.protocolVersion	The version of the protocol, as in each frame.
    SupervisorVersion.version	The version of roostd, such as `1.2.3`.
    Topic.declaration	The declaration without its type.
    TrackerSettings.answerDeadlineMilliseconds	Until a provider must have answered.
    TrackerSettings.dayMaximum	The maximum that may be approved in a day without a person.
    TrackerSettings.decisionDeadlineMilliseconds	Until the customer must have decided about a payment.
    TrackerSettings.deliveryDeadlineMilliseconds	From a payment to the result.
    TrackerSettings.jobsMaximum	Jobs under way; further jobs are refused.
    TrackerSettings.providerMaximum	The maximum of that for one provider.
    TrackerSettings.publishDeadlineMilliseconds	Until a relay must have accepted the request.
    TrackerSettings.resultDeadlineMilliseconds	From a provider's start to the result.
    TrackerSettings.totalDeadlineMilliseconds	Until the job must have ended.
    TrackingStatus.answers	Events that answered open jobs, since the start.
    TrackingStatus.approvedToday	Millisatoshi approved in the last 24 hours.
    TrackingStatus.diagnostics	Unusual things in answers, and reasons why answers do not count: a word, and how many times since the start.
    TrackingStatus.fault	Why no job can be accepted at present; absent when jobs can be accepted.
    TrackingStatus.jobs	Jobs by state.
    TrackingStatus.openPayments	Payments that providers ask for now, and about which the caller has not decided.
    TrackingStatus.payments	Payments by the state that they reached since the start (PaymentState).
    TrackingStatus.results	The number of these that were results that count, since the start.
    TrackingStatus.seq	The seq up to which the tracker has read the store's events.
    TrackingStatus.unpaid	Approved payments of open jobs that are not yet proven to be paid.
    TrackingStatus.unseen	Open jobs meant for relays whose requests no relay has, because no relay is known for them.
    WakeType.Words.body	The second line.
    WakeType.Words.title	The first line.
    WakeType.isCollapsed	Whether a new push of this type replaces an undelivered older one.
    WakeType.name	The type's name; see isName(_:).
    WakeType.timeToLiveSeconds	Seconds from acceptance until a wake is worthless.
    WakeType.words	The words to show; nil: nothing is shown, and the device chooses the moment of delivery.
    WhyRequest.worker	The worker's name.
    WhyResult.complaint	For a worker that has failed or waits for its next start, the error that it logged; nil when it logged none since it was last ready.
    WhyResult.lastLines	Its last log lines.
    WhyResult.sentences	The explanation, one sentence each.
    WhyResult.state	Its state.
    WhyResult.worker	The worker.
    WorkerCommand.worker	The worker's name.
    WorkerCommandResult.sentence	A sentence about it.
    WorkerCommandResult.state	Its state now.
    WorkerCommandResult.worker	The worker's name.
    WorkerStateWord.rawValue	The word itself.
    WorkerStatus.busyMilliseconds	Milliseconds since its work last made progress, while it owes an answer.
    WorkerStatus.droppedLogLines	Log lines that were dropped because it wrote too fast.
    WorkerStatus.generation	The worker's generation.
    WorkerStatus.inHand	Messages in flight to it.
    WorkerStatus.lastExit	How its last process ended, in words.
    WorkerStatus.mailboxFrames	Frames in its mailbox.
    WorkerStatus.name	Its name in `supervisor.conf`.
    WorkerStatus.nextAttemptMilliseconds	Milliseconds until the next attempt, while one is planned.
    WorkerStatus.pid	Process id, while it runs.
    WorkerStatus.proportionalBytes	Proportional memory in bytes, when the request asked for it.
    WorkerStatus.residentBytes	Resident memory in bytes.
    WorkerStatus.restartLimit	The number of restarts that the circuit breaker allows.
    WorkerStatus.restarts	Restarts that the circuit breaker counts now.
    WorkerStatus.role	Its role.
    WorkerStatus.sandbox	The sandbox that it could set up.
    WorkerStatus.sinceMilliseconds	Milliseconds in this state.
    WorkerStatus.state	Its state.
    WorkerStatus.text	The worker's own status line.
    WrapOutcomesBytes.bytes	The outcomes.
    WrapOutcomesBytes.isRaw	Whether the bytes are RAW.
    WrapRunBytes.bytes	The run.
    WrapRunBytes.isRaw	Whether the bytes are RAW.
    """#
}
