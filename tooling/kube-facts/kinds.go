package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
)

type subresourceFacts struct {
	Name string `json:"name"`
	// Group, version and kind of the body.
	Group   string   `json:"group"`
	Version string   `json:"version"`
	Kind    string   `json:"kind"`
	Verbs   []string `json:"verbs"`
}

type kindFacts struct {
	Group      string   `json:"group"`
	Version    string   `json:"version"`
	Kind       string   `json:"kind"`
	Plural     string   `json:"plural"`
	Singular   string   `json:"singular"`
	ShortNames []string `json:"shortNames,omitempty"`
	Categories []string `json:"categories,omitempty"`
	Namespaced bool     `json:"namespaced"`
	Verbs      []string `json:"verbs"`
	// Subresources that the resource has.
	Subresources []subresourceFacts `json:"subresources,omitempty"`
	// Source is discovery where a published discovery document lists the resource, else markers.
	Source string `json:"source"`
	// Served says that a current API server has the kind: discovery lists it, or it is newer than that document.
	Served bool `json:"served"`
	// Releases that introduced, deprecated and removed the kind, e.g. 1.21.
	Introduced string `json:"introduced,omitempty"`
	Deprecated string `json:"deprecated,omitempty"`
	Removed    string `json:"removed,omitempty"`
	// Type and ListType name entries of types; ListType is empty where there is no list.
	Type     string `json:"type"`
	ListType string `json:"listType,omitempty"`
}

// resource is one entry of a discovery document.
type resource struct {
	plural, singular       string
	namespaced             bool
	shortNames, categories []string
	verbs                  []string
	subresources           []subresourceFacts
}

type groupVersionKind struct{ group, version, kind string }

func readDiscovery(spec string) (map[groupVersionKind]resource, error) {
	text, err := goCommand("mod", "download", "-json", spec)
	if err != nil {
		return nil, err
	}
	var m module
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, err
	}
	found := map[groupVersionKind]resource{}
	directory := filepath.Join(m.Dir, "api", "discovery")
	if err := readCore(filepath.Join(directory, "api__v1.json"), found); err != nil {
		return nil, err
	}
	return found, readGroups(filepath.Join(directory, "aggregated_v2.json"), found)
}

// readCore reads an APIResourceList, where subresources stand beside their resource as resource/name.
func readCore(name string, found map[groupVersionKind]resource) error {
	var list struct {
		Resources []struct {
			Name, SingularName, Group, Version, Kind string
			Namespaced                               bool
			ShortNames, Categories, Verbs            []string
		}
	}
	if err := readJSON(name, &list); err != nil {
		return err
	}
	owner := map[string]groupVersionKind{}
	for _, r := range list.Resources {
		plural, sub, isSub := strings.Cut(r.Name, "/")
		if !isSub {
			key := groupVersionKind{"", "v1", r.Kind}
			owner[plural] = key
			found[key] = resource{plural: plural, singular: r.SingularName, namespaced: r.Namespaced,
				shortNames: r.ShortNames, categories: r.Categories, verbs: r.Verbs}
			continue
		}
		version := r.Version
		if version == "" {
			version = "v1"
		}
		key := owner[plural]
		entry := found[key]
		entry.subresources = append(entry.subresources, subresourceFacts{sub, r.Group, version, r.Kind, r.Verbs})
		found[key] = entry
	}
	return nil
}

// readGroups reads an aggregated discovery document.
func readGroups(name string, found map[groupVersionKind]resource) error {
	type responseKind struct{ Group, Version, Kind string }
	var list struct {
		Items []struct {
			Metadata struct{ Name string }
			Versions []struct {
				Version   string
				Resources []struct {
					Resource, SingularResource, Scope string
					ResponseKind                      responseKind
					ShortNames, Categories, Verbs     []string
					Subresources                      []struct {
						Subresource  string
						ResponseKind responseKind
						Verbs        []string
					}
				}
			}
		}
	}
	if err := readJSON(name, &list); err != nil {
		return err
	}
	for _, group := range list.Items {
		for _, version := range group.Versions {
			for _, r := range version.Resources {
				entry := resource{plural: r.Resource, singular: r.SingularResource, namespaced: r.Scope == "Namespaced",
					shortNames: r.ShortNames, categories: r.Categories, verbs: r.Verbs}
				for _, s := range r.Subresources {
					body := s.ResponseKind
					// An empty version stands for the resource's own group version.
					if body.Version == "" {
						body.Group, body.Version = group.Metadata.Name, version.Version
					}
					entry.subresources = append(entry.subresources,
						subresourceFacts{s.Subresource, body.Group, body.Version, body.Kind, s.Verbs})
				}
				found[groupVersionKind{group.Metadata.Name, version.Version, r.ResponseKind.Kind}] = entry
			}
		}
	}
	return nil
}

func readJSON(name string, into any) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// collectKinds lists what an API server serves: what discovery lists, and of the rest what the source marks with
// client-gen's markers.
func collectKinds(l *loader, discovery map[groupVersionKind]resource) []kindFacts {
	var kinds []kindFacts
	for _, p := range l.packages {
		if !p.isGroupVersion {
			continue
		}
		for _, name := range p.names {
			facts := p.types[name]
			served, isServed := discovery[groupVersionKind{p.group, p.version, name}]
			if !isServed {
				var isResource bool
				if served, isResource = fromMarkers(p, facts); !isResource {
					continue
				}
			}
			kind := kindFacts{Group: p.group, Version: p.version, Kind: name, Plural: served.plural, Singular: served.singular,
				ShortNames: served.shortNames, Categories: served.categories, Namespaced: served.namespaced,
				Verbs: served.verbs, Subresources: served.subresources, Source: "markers", Type: p.path + "." + name}
			if isServed {
				kind.Source = "discovery"
			}
			if p.types[name+"List"] != nil {
				kind.ListType = p.path + "." + name + "List"
			}
			for _, marker := range facts.markers {
				key, value, _ := strings.Cut(strings.TrimPrefix(marker, "k8s:prerelease-lifecycle-gen:"), "=")
				switch key {
				case "introduced":
					kind.Introduced = value
				case "deprecated":
					kind.Deprecated = value
				case "removed":
					kind.Removed = value
				}
			}
			kind.Served = isServed || isNewer(kind.Introduced) || newGroupVersions[p.group+"/"+p.version]
			kinds = append(kinds, kind)
		}
	}
	sort.Slice(kinds, func(i, j int) bool {
		a, b := kinds[i], kinds[j]
		if a.Group != b.Group {
			return a.Group < b.Group
		}
		if a.Version != b.Version {
			return a.Version < b.Version
		}
		return a.Kind < b.Kind
	})
	return kinds
}

// newGroupVersions are newer than the discovery document although their source names no release.
var newGroupVersions = map[string]bool{"scheduling.k8s.io/v1alpha3": true}

// isNewer tells whether a release such as 1.37 is later than that of the discovery document.
func isNewer(release string) bool {
	_, discovered, _ := strings.Cut(discoveryModule, "@v")
	return minor(release) > minor(discovered)
}

func minor(release string) int {
	parts := strings.Split(release, ".")
	if len(parts) < 2 {
		return 0
	}
	number, _ := strconv.Atoi(parts[1])
	return number
}

var allVerbs = []string{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}

// fromMarkers derives a resource from `+genclient` and its options.
func fromMarkers(p *pkg, facts *typeFacts) (resource, bool) {
	entry := resource{namespaced: true, verbs: allVerbs}
	isResource, hasStatus := false, hasField(facts, "status")
	for _, marker := range facts.markers {
		key, value, _ := strings.Cut(marker, "=")
		switch key {
		case "genclient":
			isResource = true
		case "genclient:nonNamespaced":
			entry.namespaced = false
		case "genclient:noStatus":
			hasStatus = false
		case "genclient:onlyVerbs":
			entry.verbs = intersect(strings.Split(value, ","))
		case "genclient:noVerbs":
			entry.verbs = nil
		case "resourceName":
			entry.plural = value
		}
	}
	if !isResource || !hasField(facts, "metadata") || len(entry.verbs) == 0 {
		return entry, false
	}
	entry.singular = strings.ToLower(facts.name)
	if entry.plural == "" {
		entry.plural = plural(entry.singular)
	}
	if hasStatus && hasField(facts, "spec") {
		entry.subresources = []subresourceFacts{{"status", p.group, p.version, facts.name, []string{"get", "patch", "update"}}}
	}
	return entry, true
}

func intersect(wanted []string) []string {
	var verbs []string
	for _, verb := range allVerbs {
		for _, w := range wanted {
			if w == verb {
				verbs = append(verbs, verb)
			}
		}
	}
	return verbs
}

func hasField(facts *typeFacts, name string) bool {
	for _, field := range facts.Fields {
		if field.JSON == name {
			return true
		}
	}
	return false
}

// plural mirrors meta.UnsafeGuessKindToResource, with the two words it gets wrong.
func plural(singular string) string {
	switch {
	case singular == "endpoints":
		return singular
	case strings.HasSuffix(singular, "s"):
		return singular + "es"
	case strings.HasSuffix(singular, "y"):
		return strings.TrimSuffix(singular, "y") + "ies"
	default:
		return singular + "s"
	}
}
