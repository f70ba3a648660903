package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"sort"
)

// writeFacts writes the document with one line for each kind and each field, so that a change reads well in a diff.
func writeFacts(to io.Writer, sources map[string]string, kinds []kindFacts, l *loader) error {
	w := &factsWriter{Writer: bufio.NewWriter(to)}
	w.text("{\n\"sources\": ").value(sources).text(",\n\"groupVersions\": [\n")
	var packages []*pkg
	for _, p := range l.packages {
		packages = append(packages, p)
	}
	sort.Slice(packages, func(i, j int) bool { return packages[i].path < packages[j].path })
	separator := ""
	for _, p := range packages {
		if !p.isGroupVersion {
			continue
		}
		w.text(separator).value(struct {
			Group   string `json:"group"`
			Version string `json:"version"`
			Package string `json:"package"`
		}{p.group, p.version, p.path})
		separator = ",\n"
	}
	w.text("\n],\n\"kinds\": [\n")
	for i, kind := range kinds {
		w.separator(i).value(kind)
	}
	w.text("\n],\n\"types\": {\n")
	count := 0
	for _, p := range packages {
		names := append([]string{}, p.names...)
		sort.Strings(names)
		for _, name := range names {
			w.separator(count).value(p.path + "." + name).text(": ")
			w.typeFacts(p.types[name])
			count++
		}
	}
	w.text("\n}\n}\n")
	if w.err != nil {
		return w.err
	}
	return w.Flush()
}

type factsWriter struct {
	*bufio.Writer
	err error
}

func (w *factsWriter) text(s string) *factsWriter {
	if w.err == nil {
		_, w.err = w.WriteString(s)
	}
	return w
}

func (w *factsWriter) separator(index int) *factsWriter {
	if index > 0 {
		return w.text(",\n")
	}
	return w
}

func (w *factsWriter) value(v any) *factsWriter {
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil && w.err == nil {
		w.err = err
	}
	return w.text(string(bytes.TrimRight(buffer.Bytes(), "\n")))
}

func (w *factsWriter) typeFacts(facts *typeFacts) {
	fields := facts.Fields
	if fields == nil {
		w.value(facts)
		return
	}
	head := *facts
	head.Fields = nil
	var buffer bytes.Buffer
	encoder := json.NewEncoder(&buffer)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(head); err != nil && w.err == nil {
		w.err = err
	}
	text := string(bytes.TrimRight(buffer.Bytes(), "}\n"))
	if text != "{" {
		text += ","
	}
	w.text(text + "\"fields\":[")
	for i, field := range fields {
		if i > 0 {
			w.text(",")
		}
		w.text("\n ").value(field)
	}
	w.text("]}")
}
