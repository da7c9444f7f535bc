// Package testsvc gives tests a real RabbitMQ and a real Redis (or Valkey) that
// belong to them alone: on free ports of the loopback, with their data in a
// temporary folder, gone when the test is.
//
// # Whose process it is
//
// [RabbitMQ] and [Redis] start a server for one test; the test may kill, stop
// and restart it. [SharedRabbitMQ] and [SharedRedis] give a URL only, of a server
// that all tests of a package use (RabbitMQ takes seconds to start) and that
// nobody may stop; [Namespace] keeps those tests apart, and [Main] ends the shared
// servers.
//
// Each server runs in a process group of its own with its leader started from
// here, and is ended by that group's id, never by a name. Beside it runs a
// watcher, a shell that reads from a pipe this process holds: if the test binary
// dies before its cleanups ran (a timeout's panic, kill -9), the pipe closes and
// the watcher ends the group and removes its folder. Nothing here leaves a
// goroutine behind, so leak checks need no exception.
//
// # When they run
//
// Service tests run where TRACTION_TEST_SERVICES=1 is set, and are skipped
// otherwise. Where it is set, a missing or broken server is a failure and never a
// skip. scripts/test.sh sets it, and finds or installs the servers first.
//
// These variables point the same tests at other servers:
//
//	TRACTION_TEST_AMQP_URL         a running broker, used by SharedRabbitMQ
//	TRACTION_TEST_REDIS_URL        a running store, used by SharedRedis
//	TRACTION_TEST_RABBITMQ_CMD     runs a broker in the foreground; gets PORT DIR
//	                               and must name its node rPORT@localhost, listen
//	                               for distribution on PORT+8, have its epmd on
//	                               PORT+18 and read RABBITMQ_CONFIG_FILE
//	TRACTION_TEST_RABBITMQCTL_CMD  runs that broker's rabbitmqctl; gets -n NODE
//	                               and the arguments, with ERL_EPMD_PORT set
//	TRACTION_TEST_REDIS_CMD        runs a store in the foreground; gets PORT and
//	                               redis-server's options
//
// Commands are split at spaces. The package needs a Unix.
package testsvc
