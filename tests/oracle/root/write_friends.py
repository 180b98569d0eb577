"""Writes trees with friends, indices and entry lists, and what ROOT says of them (said.json)."""

import array
import json
import os
import sys

import ROOT

folder = sys.argv[1]
os.chdir(folder)


def write(path, name, events, friend=None, index=None, compression=1):
    file = ROOT.TFile(path, "RECREATE", "", compression)
    tree = ROOT.TTree(name, name)
    tree.SetAutoFlush(100)
    run, event, n = (array.array("i", [0]) for _ in range(3))
    x, items = array.array("d", [0]), array.array("f", [0] * 4)
    tree.Branch("run", run, "run/I")
    tree.Branch("event", event, "event/I")
    tree.Branch(f"{name}_x", x, f"{name}_x/D")
    tree.Branch(f"{name}_n", n, f"{name}_n/I")
    tree.Branch(f"{name}_items", items, f"{name}_items[{name}_n]/F")
    for e in events:
        run[0], event[0], x[0], n[0] = 1 + e // 300, (e * 7919) % 10007, 0.5 * e, e % 4
        for k in range(n[0]):
            items[k] = e + 0.25 * k
        tree.Fill()
    if friend:
        tree.AddFriend(*friend)
    if index:
        tree.BuildIndex(*index)
    tree.Write()
    file.Close()


# A chain of three files, and a friend that is cut elsewhere.
for i, (a, b) in enumerate([(0, 700), (700, 701), (701, 2000)]):
    write(f"main{i}.root", "main", range(a, b))
for i, (a, b) in enumerate([(0, 300), (300, 1500), (1500, 2000)]):
    write(f"side{i}.root", "side", range(a, b))
# Other events in another order, some of them missing, with an index.
write("far.root", "far", [(e * 1237) % 2500 for e in range(2500) if e % 3], index=("run", "event"))
write("plain.root", "plain", range(2000))
write("aside.root", "aside", range(700, 1400))
write("recorded.root", "main", range(700), friend=("near=aside", "aside.root"))
write("outer.root", "outer", range(700), friend=("between=main", "recorded.root"))
for i in range(2):
    write(f"part{i}.root", "aside", range(350 * i, 350 * (i + 1)))
several = "several=aside", f"{os.getcwd()}/part0.root"
write("pattern.root", "main", range(700), friend=several, compression=0)
with open("pattern.root", "r+b") as file:  # ROOT itself records no pattern of names
    content = file.read().replace(b"part0.root", b"part?.root")
    file.seek(0)
    file.write(content)
os.makedirs("inner", exist_ok=True)
os.chdir("inner")
write("recorded.root", "main", range(700), friend=("far", "../far.root"))
os.chdir("..")
write("lost.root", "main", range(700), friend=("aside", "aside.root"))

said = {}


def chain():
    made = ROOT.TChain("main")
    for i in range(3):
        made.Add(f"{folder}/main{i}.root")
    return made


def drawn(tree, expression, cut=""):
    tree.SetEstimate(10 * tree.GetEntries())
    count = tree.Draw(expression, cut, "goff")
    values = tree.GetV1()
    return [values[i] for i in range(count)]


tree, side = chain(), ROOT.TChain("side")
for i in range(3):
    side.Add(f"side{i}.root")
tree.AddFriend(side)
said["side_x"] = drawn(tree, "side.side_x")
said["side_items"] = drawn(tree, "side_items", "main_x > 100 && side.side_n == main_n")

file = ROOT.TFile("far.root")
far = file.Get("far")
tree = chain()
said["matches"] = []
for entry in range(tree.GetEntries()):
    tree.GetEntry(entry)
    said["matches"].append(far.GetEntryNumberWithIndex(tree.run, tree.event))

for path, name, expression in [
    ("recorded.root", "near", "near.aside_x"),
    ("inner/recorded.root", "inner", "far.far_x"),
]:
    here = os.getcwd()
    os.chdir(os.path.dirname(path) or ".")
    file = ROOT.TFile(os.path.basename(path))
    tree = file.Get("main")
    said[name] = drawn(tree, expression)
    os.chdir(here)

lists = ROOT.TFile("lists.root", "RECREATE")
tree = chain()
for name, cut in [
    ("few", "main_x > 340 && main_x < 360"),
    ("most", "event % 50 != 3"),
    ("none", "run < 0"),
]:
    tree.Draw(f">>{name}", cut, "entrylist")
    found = ROOT.gDirectory.Get(name)
    said[name] = found.GetN()
    tree.SetEntryList(found)
    said[f"{name}_x"] = drawn(tree, "main_x")
    tree.SetEntryList(ROOT.nullptr)
    lists.cd()
    found.Write()
tree.Draw(">>events", "main_x > 340 && main_x < 360")
ROOT.gDirectory.Get("events").Write()
file = ROOT.TFile("main2.root")
one = file.Get("main")
lists.cd()
one.Draw(">>one", "main_x > 900", "entrylist")
ROOT.gDirectory.Get("one").Write()
lists.Close()

with open("said.json", "w") as out:
    json.dump(said, out)
