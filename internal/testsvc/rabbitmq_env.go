//go:build unix

package testsvc

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// The ports beside the broker's own. They are fixed distances so that a command
// which gets the port alone can use the same ones.
const (
	distOffset = 8
	epmdOffset = 18
)

// prepareBroker finds the server and free ports and lays the folder.
func prepareBroker(conf []string) (*broker, error) {
	port, err := freePort(distOffset, epmdOffset)
	if err != nil {
		return nil, err
	}
	argv, err := rabbitCommand()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "traction-test-rabbitmq-")
	if err != nil {
		return nil, fmt.Errorf("making RabbitMQ's folder: %w", err)
	}
	b := &broker{port: port, dir: dir, argv: argv}
	if os.Getenv(EnvRabbitMQCmd) != "" {
		b.argv = append(argv, strconv.Itoa(port), dir)
	}
	files := map[string]string{
		"rabbitmq.conf":   strings.Join(append([]string{"loopback_users.guest = true"}, conf...), "\n") + "\n",
		"enabled_plugins": "[].\n",
		"env.conf":        "",
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return nil, fmt.Errorf("laying RabbitMQ's folder: %w", err)
		}
	}
	b.env = b.environ()
	return b, nil
}

// environ keeps everything of the node inside its folder and on its ports,
// whatever the machine's own RabbitMQ is configured to do.
func (b *broker) environ() []string {
	in := func(name string) string { return filepath.Join(b.dir, name) }
	env := []string{
		"HOME=" + b.dir, // the Erlang cookie is the folder's own
		"ERL_EPMD_PORT=" + strconv.Itoa(b.port+epmdOffset),
		"ERL_EPMD_ADDRESS=127.0.0.1",
		"RABBITMQ_NODENAME=" + b.node(),
		"RABBITMQ_NODE_IP_ADDRESS=127.0.0.1",
		"RABBITMQ_NODE_PORT=" + strconv.Itoa(b.port),
		"RABBITMQ_DIST_PORT=" + strconv.Itoa(b.port+distOffset),
		"RABBITMQ_MNESIA_BASE=" + in("mnesia"),
		"RABBITMQ_LOG_BASE=" + in("log"),
		"RABBITMQ_PID_FILE=" + in("pid"),
		"RABBITMQ_GENERATED_CONFIG_DIR=" + in("generated"),
		"RABBITMQ_PLUGINS_EXPAND_DIR=" + in("plugins"),
		"RABBITMQ_ENABLED_PLUGINS_FILE=" + in("enabled_plugins"),
		"RABBITMQ_CONFIG_FILE=" + in("rabbitmq.conf"),
		"RABBITMQ_CONFIG_FILES=" + in("conf.d"),
		"RABBITMQ_ADVANCED_CONFIG_FILE=" + in("advanced.config"),
		"RABBITMQ_CONF_ENV_FILE=" + in("env.conf"),
		// Small and quick to start beside other things on a few cores.
		"RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=+S 2:2 +SDio 4 +sbwt none +sbwtdcpu none +sbwtdio none",
		// Makes the start script become the virtual machine instead of its
		// parent, so that a signal reaches it and nothing is in between.
		"RUNNING_UNDER_SYSTEMD=true",
	}
	if epmdPath() != "" {
		// Everything Erlang starts an epmd where it finds none, in the background
		// and out of reach: a node that dies while ours is being ended, too.
		env = append(env, "ERL_FLAGS=-start_epmd false")
	}
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		if name != "HOME" && name != "NOTIFY_SOCKET" && !strings.HasPrefix(name, "RABBITMQ_") && !strings.HasPrefix(name, "ERL_") {
			env = append(env, kv)
		}
	}
	return env
}

func (b *broker) node() string { return fmt.Sprintf("r%d@localhost", b.port) }

// ctl is the command that starts every call of rabbitmqctl.
func (b *broker) ctl() []string {
	argv := strings.Fields(os.Getenv(EnvRabbitMQCtlCmd))
	if len(argv) == 0 {
		argv = []string{"rabbitmqctl"}
		if near := filepath.Join(filepath.Dir(b.argv[0]), "rabbitmqctl"); executable(near) {
			argv[0] = near
		}
	}
	return append(argv, "-n", b.node())
}

// rabbitCommand finds the server. The scripts of the packages' own folder come
// before the ones in PATH: Debian's wrapper there changes the user and asks for
// root.
func rabbitCommand() ([]string, error) {
	if argv := strings.Fields(os.Getenv(EnvRabbitMQCmd)); len(argv) > 0 {
		return argv, nil
	}
	for _, path := range []string{
		"/usr/lib/rabbitmq/bin/rabbitmq-server",
		"/opt/homebrew/opt/rabbitmq/sbin/rabbitmq-server",
		"/usr/local/opt/rabbitmq/sbin/rabbitmq-server",
	} {
		if executable(path) {
			return []string{path}, nil
		}
	}
	path, err := exec.LookPath("rabbitmq-server")
	if err != nil {
		return nil, fmt.Errorf("looking for RabbitMQ: %w; run scripts/test.sh, which installs it, or set %s", err, EnvRabbitMQCmd)
	}
	return []string{path}, nil
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}
