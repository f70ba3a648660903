// Command kube-facts reads the published Go source of the Kubernetes API types and writes what it says about them
// as one JSON document: types with their fields, tags and markers, and the kinds that an API server serves.
//
// Run it through generate.mjs; README.md describes the document.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
)

const (
	apiModule        = "k8s.io/api"
	machineryModule  = "k8s.io/apimachinery"
	extensionsModule = "k8s.io/apiextensions-apiserver"
	aggregatorModule = "k8s.io/kube-aggregator"
	// The newest Kubernetes release whose module holds the published discovery document. It may lag behind the
	// types: kinds that it does not know get their plural, scope and verbs from the markers in the source.
	discoveryModule = "k8s.io/kubernetes@v1.36.3"
)

// module is one Go module on disk.
type module struct {
	Path, Version, Dir string
}

var versionName = regexp.MustCompile(`^v[0-9]+((alpha|beta)[0-9]+)?$`)

func main() {
	log.SetFlags(0)
	log.SetPrefix("kube-facts: ")
	out := flag.String("out", "facts.json", "file to write")
	flag.Parse()
	if err := run(*out); err != nil {
		log.Fatal(err)
	}
}

func run(out string) error {
	modules, err := locate(apiModule, machineryModule, extensionsModule, aggregatorModule)
	if err != nil {
		return err
	}
	discovery, err := readDiscovery(discoveryModule)
	if err != nil {
		return err
	}
	loader := newLoader(modules)
	roots, err := groupVersionPackages(modules[apiModule])
	if err != nil {
		return err
	}
	roots = append(roots,
		extensionsModule+"/pkg/apis/apiextensions/v1",
		aggregatorModule+"/pkg/apis/apiregistration/v1",
		machineryModule+"/pkg/apis/meta/v1")
	for _, path := range roots {
		if err := loader.load(path); err != nil {
			return err
		}
	}
	if err := loader.loadReferenced(); err != nil {
		return err
	}
	kinds := collectKinds(loader, discovery)
	sources := map[string]string{}
	for path, m := range modules {
		sources[path] = m.Version
	}
	name, version, _ := strings.Cut(discoveryModule, "@")
	sources[name] = version
	file, err := os.Create(out)
	if err != nil {
		return err
	}
	return errors.Join(writeFacts(file, sources, kinds, loader), file.Close())
}

// locate downloads modules at the versions that go.mod requires and says where they lie.
func locate(paths ...string) (map[string]module, error) {
	found := map[string]module{}
	for _, path := range paths {
		if _, err := goCommand("mod", "download", path); err != nil {
			return nil, err
		}
		text, err := goCommand("list", "-m", "-json", path)
		if err != nil {
			return nil, err
		}
		var m module
		if err := json.Unmarshal(text, &m); err != nil {
			return nil, fmt.Errorf("go list -m %s: %w", path, err)
		}
		found[path] = m
	}
	return found, nil
}

func goCommand(args ...string) ([]byte, error) {
	text, err := exec.Command("go", args...).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return nil, fmt.Errorf("go %s: %w: %s", strings.Join(args, " "), err, exit.Stderr)
	}
	return text, err
}

// groupVersionPackages lists the packages of the API module that are named group/version.
func groupVersionPackages(api module) ([]string, error) {
	directories, err := filepath.Glob(filepath.Join(api.Dir, "*", "*", "register.go"))
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, file := range directories {
		directory := filepath.Dir(file)
		if !versionName.MatchString(filepath.Base(directory)) {
			continue
		}
		relative, err := filepath.Rel(api.Dir, directory)
		if err != nil {
			return nil, err
		}
		paths = append(paths, api.Path+"/"+filepath.ToSlash(relative))
	}
	sort.Strings(paths)
	return paths, nil
}
