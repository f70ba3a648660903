package main

import (
	"go/ast"
	"go/token"
	"io/fs"
	"os"
	"strings"
)

func fileInfo(name string) (fs.FileInfo, error) { return os.Stat(name) }

// splitComment separates the prose of a comment from its markers (lines that begin with +). Of the prose it keeps
// the first sentence.
func splitComment(group *ast.CommentGroup) (string, []string) {
	if group == nil {
		return "", nil
	}
	var prose, markers []string
	for _, line := range strings.Split(group.Text(), "\n") {
		line = strings.TrimSpace(line)
		if marker, ok := strings.CutPrefix(line, "+"); ok {
			markers = append(markers, marker)
			continue
		}
		prose = append(prose, line)
	}
	return firstSentence(strings.Join(prose, "\n")), markers
}

// firstSentence is the first paragraph up to the first full stop that ends a sentence.
func firstSentence(text string) string {
	text = strings.TrimSpace(text)
	if text == "" || strings.HasPrefix(text, "---") {
		return ""
	}
	paragraph, _, _ := strings.Cut(text, "\n\n")
	paragraph = strings.Join(strings.Fields(paragraph), " ")
	for from := 0; ; {
		stop := strings.Index(paragraph[from:], ". ")
		if stop < 0 {
			return paragraph
		}
		end := from + stop
		if isAbbreviation(paragraph[:end]) {
			from = end + 2
			continue
		}
		return paragraph[:end+1]
	}
}

func isAbbreviation(text string) bool {
	for _, word := range []string{"e.g", "i.e", "etc", "vs", "a.k.a"} {
		if strings.HasSuffix(strings.ToLower(text), word) {
			return true
		}
	}
	return false
}

type lineComments struct{ file *ast.File }

// detachedMarkers finds markers in the comment block that a blank line separates from a declaration's own comment:
// client-gen's markers are usually written there.
func (c lineComments) detachedMarkers(own *ast.CommentGroup, start token.Pos) []string {
	limit := start
	if own != nil {
		limit = own.Pos()
	}
	var previous *ast.CommentGroup
	for _, group := range c.file.Comments {
		if group.End() < limit {
			previous = group
		}
	}
	if previous == nil {
		return nil
	}
	for _, declaration := range c.file.Decls {
		if declaration.End() > previous.Pos() && declaration.End() <= limit {
			return nil
		}
	}
	_, markers := splitComment(previous)
	return markers
}
