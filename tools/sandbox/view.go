package sandbox

// What of the host's files a command sees: programs and libraries, and the few
// settings that these need. Nothing of it tells about the host's people.

import (
	"maps"
	"os"
	"strconv"
)

// system are the folders and files of the host that a command may read and run.
var system = []string{"/usr", "/nix/store",
	"/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives", "/etc/ssl/certs", "/etc/ssl/openssl.cnf",
	"/etc/ca-certificates", "/etc/pki/tls/certs", "/etc/localtime", "/etc/timezone", "/etc/mime.types", "/etc/protocols", "/etc/services"}

// linked are folders of the host that are links to such ones nowadays.
var linked = []string{"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}

// searchPath is the PATH of commands.
const searchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

// Who a command is: nobody, whoever Deckhand is. In user namespaces of their own
// commands keep this user's rights to files, and no others.
const nobody = 65534

// accounts are the users that a command finds.
var accounts = "root:x:0:0:root:/:/usr/sbin/nologin\nnobody:x:" + strconv.Itoa(nobody) + ":" + strconv.Itoa(nobody) + ":nobody:/tmp:/usr/sbin/nologin\n"

// groups are theirs.
var groups = "root:x:0:\nnogroup:x:" + strconv.Itoa(nobody) + ":\n"

// ownEnvironment is what a supervisor gets of this process's environment.
func ownEnvironment() []string {
	env := []string{}
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "XDG_RUNTIME_DIR", "DOCKER_HOST", "CONTAINER_HOST", "KUBECONFIG", "KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"} {
		if value, is := os.LookupEnv(name); is {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// environment is a command's whole environment.
func environment(s Spec, home, temp, out string) map[string]string {
	env := map[string]string{"PATH": searchPath, "HOME": home, "TMPDIR": temp, "LANG": "C.UTF-8", "OUT": out}
	maps.Copy(env, s.Env)
	return env
}
