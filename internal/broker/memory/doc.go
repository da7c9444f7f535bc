// Package memory is the in-process transport: the broker of demos, examples and
// tests. It is not for production: everything is gone with the process.
//
// # Model
//
// A Broker owns all exchanges, queues and messages under one lock; any number of
// transports dial it, as processes would. A message is either ready in its queue,
// ordered by its place, or handed out to one subscription. A return puts it back
// in its place, whatever happened in between, and counts: above the delivery
// limit it is dead-lettered, or dropped where there is no target, exactly as
// RabbitMQ's quorum queues do. So does a cycle of dead-letterings with no
// rejection in it.
//
// # What dies
//
// Stop, Start and DropConnections play a broker restart: queues and messages stay
// (they are durable), every session ends, what was handed out goes back to its
// place and is redelivered under a new session. Block plays a memory alarm. A
// Publish hook can refuse a message or lose its confirm.
//
// Time is the standard library's, so that everything runs in virtual time under
// testing/synctest.
package memory
