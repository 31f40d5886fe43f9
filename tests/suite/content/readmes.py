"""READMEs as projects write them: badges, HTML, notices, tables, lists of links."""

DISK = """<div align="center">
  <img src="assets/logo.svg" alt="dunes" width="200"/>
  <h1>dunes</h1>
  <p><b>A disk usage explorer for the terminal</b></p>

[![CI](https://github.com/h/dunes/actions/workflows/ci.yml/badge.svg)](https://github.com/h/dunes/actions)
![License](https://img.shields.io/badge/license-MIT-blue)

[English](README.md) | [简体中文](README.zh.md) | [日本語](README.ja.md)
</div>

> [!WARNING]
> dunes is beta software. Back up your data.

dunes scans a directory tree in parallel and shows where the space went, with a treemap you can walk through by
keyboard. It is written in Rust and has no runtime dependencies.

## Table of Contents
- [Features](#features)
- [Installation](#installation)

## ✨ FEATURES

- 🚀 **Parallel scan**: uses every core, reads 1 million files in about 2 seconds on an NVMe drive
- 🗺️ Treemap and list view side by side
  - with colours
- 🧹 Delete files to the trash, with undo
- And much more!

## Installation

```sh
cargo install dunes
```

- `brew install dunes`

## Benchmarks

| Tool | Time |
|------|------|
| dunes | 2.1 s |

## License
MIT
"""

SPREADSHEET = """tablesmith
==========

|build| |pypi|

.. |build| image:: https://ci.example/x.svg
   :target: https://ci.example

**tablesmith** is a Python library for reading messy spreadsheets. It finds the header row and hands you clean rows.

Why?
----

Spreadsheets from real offices have logos, empty rows and three header lines.

Features
--------

* Finds the header row by itself
* Understands dates in 14 formats
* Merged cells are filled in
* Streams files that do not fit into memory

Installation
------------

.. code-block:: bash

    pip install tablesmith
"""

DATABASE = """<p align="center"><a href="https://lagoondb.example"><img src="logo.png"></a></p>
<p align="center">
    <em>LagoonDB is an embedded time series database for devices with little memory.</em>
</p>

---

**Documentation**: https://lagoondb.example/docs

---

The key features are:

* **Small**: 180 kB of code, 32 kB of RAM.
* **Safe**: survives power loss at any moment.

## Sponsors
Thanks to our gold sponsors.
- [Acme](https://acme.example)
"""

FORMS = """# Quillwork 🪶 — forms that validate themselves

[Docs](https://x) · [Discord](https://y) · [Twitter](https://z)

> Type-safe forms for React, in 3 kB.

The fastest form library in the world! Quillwork lets you describe a form as a schema and gives you typed values.

## Contributing
PRs welcome!
"""

GERMAN = """# Werkbank

Werkbank erinnert an jede Wartung und hält fest, wer sie gemacht hat.

## Funktionen

- Wartungspläne pro Maschine
- Fotos und Notizen zu jedem Auftrag
- Auswertung der Stillstände

## Installation
`docker compose up`
"""

JAPANESE = """# くもノート

くもノートは、話すだけでメモになるアプリです。電車の中でも片手で使えます。

## 特徴

- 話した言葉をその場で文字に
- あとから場所と時間で探せる
- オフラインでも使える

## インストール
npm i
"""
