"""Verbs of the starter corpus with their principal parts, grouped by what they govern.

An entry reads "lesen, liest, las, hat gelesen = read, read: text": infinitive, third person
singular, preterite and perfect, then the English base and past form, then the kinds of object (or
single nouns) that the verb can have.  A regular English past is left out.  "auf|stehen" is
separable, "sich" marks a reflexive verb.

Notes in brackets say how the verb may be used:
  (stative)   English simple present, never progressive: "knows", not "is knowing"
  (event)     no plain present: one says "he found it" or "he will find it"
  (accident)  only what already happened: "he lost it"
  (plain)     the past is always the preterite: "war", not "ist gewesen"
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from nouns import table_lines

VERB_TABLE = {
    "intransitive": """
    schlafen, schläft, schlief, hat geschlafen = sleep, slept
    arbeiten, arbeitet, arbeitete, hat gearbeitet = work
    lachen, lacht, lachte, hat gelacht = laugh
    weinen, weint, weinte, hat geweint = cry
    singen, singt, sang, hat gesungen = sing, sang
    tanzen, tanzt, tanzte, hat getanzt = dance
    schwimmen, schwimmt, schwamm, ist geschwommen = swim, swam
    laufen, läuft, lief, ist gelaufen = run, ran
    warten, wartet, wartete, hat gewartet = wait
    spielen, spielt, spielte, hat gespielt = play
    frühstücken, frühstückt, frühstückte, hat gefrühstückt = have breakfast, had breakfast
    auf|stehen, steht, stand, ist aufgestanden = get up, got up (event)
    an|kommen, kommt, kam, ist angekommen = arrive (event)
    ein|schlafen, schläft, schlief, ist eingeschlafen = fall asleep, fell asleep (event)
    auf|wachen, wacht, wachte, ist aufgewacht = wake up, woke up (event)
    zurück|kommen, kommt, kam, ist zurückgekommen = come back, came back (event)
    ein|kaufen, kauft, kaufte, hat eingekauft = go shopping, went shopping
    fern|sehen, sieht, sah, hat ferngesehen = watch TV
    spazieren |gehen, geht, ging, ist spazieren gegangen = go for a walk, went for a walk
    """,
    "reflexive": """
    sich aus|ruhen, ruht, ruhte, hat ausgeruht = rest
    sich beeilen, beeilt, beeilte, hat beeilt = hurry
    sich rasieren, rasiert, rasierte, hat rasiert = shave
    sich an|ziehen, zieht, zog, hat angezogen = get dressed, got dressed
    sich um|ziehen, zieht, zog, hat umgezogen = get changed, got changed
    sich hin|setzen, setzt, setzte, hat hingesetzt = sit down, sat down (event)
    sich entschuldigen, entschuldigt, entschuldigte, hat entschuldigt = apologize (event)
    sich beschweren, beschwert, beschwerte, hat beschwert = complain
    """,
    "accusative": """
    lesen, liest, las, hat gelesen = read, read: text
    schreiben, schreibt, schrieb, hat geschrieben = write, wrote: Buch Brief Roman Gedicht
    schreiben, schreibt, schrieb, hat geschrieben = write, wrote: E-Mail Bericht Artikel
    übersetzen, übersetzt, übersetzte, hat übersetzt = translate: text
    essen, isst, aß, hat gegessen = eat, ate: food
    trinken, trinkt, trank, hat getrunken = drink, drank: drink
    bestellen, bestellt, bestellte, hat bestellt = order: Pizza Salat Suppe Kuchen
    bestellen, bestellt, bestellte, hat bestellt = order: drink Taxi
    kaufen, kauft, kaufte, hat gekauft = buy, bought: food vehicle furniture item device
    kaufen, kauft, kaufte, hat gekauft = buy, bought: clothes Buch Zeitung Koffer Blume Haus
    verkaufen, verkauft, verkaufte, hat verkauft = sell, sold: food vehicle furniture device
    verkaufen, verkauft, verkaufte, hat verkauft = sell, sold: Buch Haus Hut Ring Blume Hund
    suchen, sucht, suchte, hat gesucht = look for: item animal device person
    suchen, sucht, suchte, hat gesucht = look for: clothes text Koffer Hotel Geld
    finden, findet, fand, hat gefunden = find, found (event): item animal device Koffer
    finden, findet, fand, hat gefunden = find, found (event): text Fehler Antwort Wohnung
    verlieren, verliert, verlor, hat verloren = lose, lost (accident): item Spiel Geld Hut
    vergessen, vergisst, vergaß, hat vergessen = forget, forgot (accident): item clothes
    vergessen, vergisst, vergaß, hat vergessen = forget, forgot (accident): Koffer Geld Frage
    sehen, sieht, sah, hat gesehen = see, saw (stative): person animal place outdoors transport
    kennen, kennt, kannte, hat gekannt = know, knew (stative): person outdoors Lied Geschichte
    kennen, kennt, kannte, hat gekannt = know, knew (stative): Restaurant Hotel Museum Film
    lieben, liebt, liebte, hat geliebt = love (stative): Kind Mann Frau Hund Katze Pferd
    lieben, liebt, liebte, hat geliebt = love (stative): Musik Stadt Insel Garten
    brauchen, braucht, brauchte, hat gebraucht = need (stative): item device vehicle
    brauchen, braucht, brauchte, hat gebraucht = need (stative): Geld Hilfe Arzt Plan
    haben, hat, hatte, hat gehabt = have, had (stative) (plain): item device vehicle animal
    haben, hat, hatte, hat gehabt = have, had (stative) (plain): Idee Plan Frage
    haben, hat, hatte, hat gehabt = have, had (stative) (plain): Problem Garten Haus
    mögen, mag, mochte, hat gemocht = like (stative): food drink animal
    hören, hört, hörte, hat gehört = listen to: Musik Lied Geschichte
    singen, singt, sang, hat gesungen = sing, sang: Lied
    malen, malt, malte, hat gemalt = paint: Bild Haus Blume Baum Boot Turm Schloss
    zeichnen, zeichnet, zeichnete, hat gezeichnet = draw, drew: animal plant Karte Plan
    bauen, baut, baute, hat gebaut = build, built: Haus Boot Schiff Regal Brücke Turm
    reparieren, repariert, reparierte, hat repariert = repair: vehicle device Tür
    reparieren, repariert, reparierte, hat repariert = repair: furniture Straße Bus
    putzen, putzt, putzte, hat geputzt = clean: room Fenster Schuh Spiegel Fahrrad
    auf|räumen, räumt, räumte, hat aufgeräumt = tidy up: room
    öffnen, öffnet, öffnete, hat geöffnet = open: part Flasche Brief Paket Geschenk
    zu|machen, macht, machte, hat zugemacht = close: part Buch Koffer Tasche
    besuchen, besucht, besuchte, hat besucht = visit: family Freund Nachbar Museum
    besuchen, besucht, besuchte, hat besucht = visit: Schloss Stadt Insel Kirche
    treffen, trifft, traf, hat getroffen = meet, met (event): person
    tragen, trägt, trug, hat getragen = carry: vessel Tisch Stuhl Tasche Kind
    an|ziehen, zieht, zog, hat angezogen = put on, put on: Hut Mantel Hemd Jacke
    an|ziehen, zieht, zog, hat angezogen = put on, put on: Schuh Pullover Mütze
    aus|ziehen, zieht, zog, hat ausgezogen = take off, took off: Hut Mantel Hemd Jacke
    aus|ziehen, zieht, zog, hat ausgezogen = take off, took off: Schuh Pullover Mütze
    mit|bringen, bringt, brachte, hat mitgebracht = bring along, brought along: food Geschenk
    mit|bringen, bringt, brachte, hat mitgebracht = bring along, brought along: Freund Wein
    mit|nehmen, nimmt, nahm, hat mitgenommen = take along, took along: Regenschirm Tasche Hund
    mit|nehmen, nimmt, nahm, hat mitgenommen = take along, took along: Kamera Jacke Buch Karte
    ab|holen, holt, holte, hat abgeholt = pick up: Kind Gast Freund Paket family
    an|rufen, ruft, rief, hat angerufen = call: person family
    ein|laden, lädt, lud, hat eingeladen = invite: person family
    fragen, fragt, fragte, hat gefragt = ask: person family
    verstehen, versteht, verstand, hat verstanden = understand, understood (stative): idea text
    lernen, lernt, lernte, hat gelernt = learn: Lied Gedicht Spiel
    backen, backt, backte, hat gebacken = bake: Kuchen Brot Brötchen Pizza
    kochen, kocht, kochte, hat gekocht = cook: Suppe Reis Fleisch Kartoffel Ei
    waschen, wäscht, wusch, hat gewaschen = wash: clothes Auto Hund Teller Tasse Apfel
    schneiden, schneidet, schnitt, hat geschnitten = cut, cut: Brot Käse Fleisch Kuchen Tomate
    füttern, füttert, fütterte, hat gefüttert = feed, fed: animal
    fotografieren, fotografiert, fotografierte, hat fotografiert = photograph: plant
    fotografieren, fotografiert, fotografierte, hat fotografiert = photograph: animal place
    bezahlen, bezahlt, bezahlte, hat bezahlt = pay for, paid for: Kaffee Suppe Pizza Hotel Taxi
    mieten, mietet, mietete, hat gemietet = rent: vehicle Wohnung Haus Büro
    benutzen, benutzt, benutzte, hat benutzt = use: device Messer Gabel Löffel Karte
    ein|schalten, schaltet, schaltete, hat eingeschaltet = turn on: Lampe Computer
    ein|schalten, schaltet, schaltete, hat eingeschaltet = turn on: Radio Handy
    aus|schalten, schaltet, schaltete, hat ausgeschaltet = turn off: Lampe Handy
    aus|schalten, schaltet, schaltete, hat ausgeschaltet = turn off: Computer Kamera Radio
    gewinnen, gewinnt, gewann, hat gewonnen = win, won (event): Spiel Geld
    lösen, löst, löste, hat gelöst = solve: Problem
    planen, plant, plante, hat geplant = plan, planned: Spiel Garten Haus
    probieren, probiert, probierte, hat probiert = try: food Wein Saft
    bekommen, bekommt, bekam, hat bekommen = get, got (event): Brief E-Mail Geschenk Paket
    holen, holt, holte, hat geholt = fetch: vessel Arzt Wasser Stuhl Regenschirm
    pflanzen, pflanzt, pflanzte, hat gepflanzt = plant: plant
    verpassen, verpasst, verpasste, hat verpasst = miss (accident): Bus Zug Flugzeug
    """,
    "dative": """
    helfen, hilft, half, hat geholfen = help: person family
    danken, dankt, dankte, hat gedankt = thank: person family
    antworten, antwortet, antwortete, hat geantwortet = answer: person family
    folgen, folgt, folgte, ist gefolgt = follow: person Hund
    gratulieren, gratuliert, gratulierte, hat gratuliert = congratulate: person
    vertrauen, vertraut, vertraute, hat vertraut = trust (stative): person family
    zu|hören, hört, hörte, hat zugehört = listen to: person family
    """,
    "giving": """
    geben, gibt, gab, hat gegeben = give, gave: item Geld Buch Brief vessel Apfel
    zeigen, zeigt, zeigte, hat gezeigt = show: item text room Garten Haus
    schicken, schickt, schickte, hat geschickt = send, sent: text Paket Foto Rechnung Geld
    bringen, bringt, brachte, hat gebracht = bring, brought: drink food item vessel Rechnung
    leihen, leiht, lieh, hat geliehen = lend, lent: vehicle Buch Geld Stift Regenschirm Kamera
    vor|lesen, liest, las, hat vorgelesen = read to, read to: Geschichte Brief Gedicht Artikel
    erklären, erklärt, erklärte, hat erklärt = explain to: Problem Plan Spiel
    erklären, erklärt, erklärte, hat erklärt = explain to: Idee Fehler Film
    """,
    "prepositional": """
    warten auf A, wartet, wartete, hat gewartet = wait for: person transport
    warten auf A, wartet, wartete, hat gewartet = wait for: Antwort Brief Paket
    denken an A, denkt, dachte, hat gedacht = think about, thought about: person family Geld
    sprechen mit D, spricht, sprach, hat gesprochen = talk to: person family
    sprechen über A, spricht, sprach, hat gesprochen = talk about: idea text
    sich freuen auf A, freut, freute, hat gefreut = look forward to: Film
    sich freuen auf A, freut, freute, hat gefreut = look forward to: Spiel
    sich interessieren für A, interessiert, interessierte, hat interessiert = be interested in: Film
    sich erinnern an A, erinnert, erinnerte, hat erinnert = remember (stative): person
    sich erinnern an A, erinnert, erinnerte, hat erinnert = remember (stative): Frage Film Plan Lied
    sich kümmern um A, kümmert, kümmerte, hat gekümmert = take care of, took care of: Kind Gast
    sich kümmern um A, kümmert, kümmerte, hat gekümmert = take care of, took care of: animal
    träumen von D, träumt, träumte, hat geträumt = dream about: Insel Haus
    träumen von D, träumt, träumte, hat geträumt = dream about: vehicle Strand
    lachen über A, lacht, lachte, hat gelacht = laugh about: Fehler Film
    lachen über A, lacht, lachte, hat gelacht = laugh about: Geschichte Bild
    spielen mit D, spielt, spielte, hat gespielt = play with: Kind Hund Katze Ball
    """,
    "movement": """
    gehen, geht, ging, ist gegangen = go, went
    fahren, fährt, fuhr, ist gefahren = drive, drove
    laufen, läuft, lief, ist gelaufen = run, ran
    """,
    "other": """
    sein, ist, war, ist gewesen = be (stative) (plain)
    liegen, liegt, lag, hat gelegen = lie, lay
    stehen, steht, stand, hat gestanden = stand, stood
    sitzen, sitzt, saß, hat gesessen = sit, sat
    legen, legt, legte, hat gelegt = put, put
    stellen, stellt, stellte, hat gestellt = put, put
    bleiben, bleibt, blieb, ist geblieben = stay
    wohnen, wohnt, wohnte, hat gewohnt = live (stative)
    kommen, kommt, kam, ist gekommen = come, came
    fliegen, fliegt, flog, ist geflogen = fly, flew
    reisen, reist, reiste, ist gereist = travel
    gehören, gehört, gehörte, hat gehört = belong (stative)
    kosten, kostet, kostete, hat gekostet = cost, cost (stative)
    sagen, sagt, sagte, hat gesagt = say, said (stative)
    wissen, weiß, wusste, hat gewusst = know, knew (stative) (plain)
    glauben, glaubt, glaubte, hat geglaubt = believe (stative)
    hoffen, hofft, hoffte, hat gehofft = hope (stative)
    versuchen, versucht, versuchte, hat versucht = try
    beginnen, beginnt, begann, hat begonnen = begin, began
    ab|fahren, fährt, fuhr, ist abgefahren = leave, left
    """,
}
FRAMES = ("intransitive", "reflexive", "accusative", "dative", "giving", "prepositional")


@dataclass(frozen=True, kw_only=True)
class Verb:
    """One dictionary entry; `preposition` and `case` describe a prepositional object."""

    prefix: str
    infinitive: str
    third_person: str
    preterite: str
    participle: str
    auxiliary: str
    reflexive: bool
    preposition: str
    case: str
    english: str
    english_past: str
    objects: tuple[str, ...]
    notes: tuple[str, ...]
    frame: str

    @property
    def name(self) -> str:
        """The infinitive as a dictionary lists it."""
        return self.prefix + self.infinitive


def regular_past(english: str) -> str:
    """The regular English past of a verb phrase; only irregular ones stand in the table."""
    word, _, rest = english.partition(" ")
    if word == "be":
        word = "was"
    elif word.endswith("e"):
        word += "d"
    elif word.endswith("y") and word[-2] not in "aeiou":
        word = word[:-1] + "ied"
    else:
        word += "ed"
    return f"{word} {rest}".strip()


def parse_verb(line: str, frame: str) -> Verb:
    """Read one entry of the table."""
    notes = tuple(re.findall(r"\((\w+)\)", line))
    line = re.sub(r" \(\w+\)", "", line)
    german, _, english = line.partition(" = ")
    english, _, objects = english.partition(":")
    head, third_person, preterite, perfect = german.split(", ")
    governed = re.search(r" (\w+) ([AD])$", head)
    head = head[: governed.start()] if governed else head
    reflexive = head.startswith("sich ")
    prefix, _, infinitive = head.removeprefix("sich ").rpartition("|")
    auxiliary, _, participle = perfect.partition(" ")
    base, _, past = english.strip().partition(", ")
    return Verb(
        prefix=prefix,
        infinitive=infinitive,
        third_person=third_person,
        preterite=preterite,
        participle=participle,
        auxiliary={"hat": "haben", "ist": "sein"}[auxiliary],
        reflexive=reflexive,
        preposition=governed.group(1) if governed else "",
        case={"A": "accusative", "D": "dative"}[governed.group(2)] if governed else "",
        english=base,
        english_past=past or regular_past(base),
        objects=tuple(objects.split()),
        notes=notes,
        frame=frame,
    )


def merge(verbs: list[Verb]) -> list[Verb]:
    """Join the entries that only continue the object list of the line above."""
    merged: dict[tuple[str, str, str], Verb] = {}
    for verb in verbs:
        key = (verb.frame, verb.name, verb.preposition)
        if key in merged:
            fields = {**vars(verb), "objects": merged[key].objects + verb.objects}
            verb = Verb(**fields)
        merged[key] = verb
    return list(merged.values())


VERBS = merge(
    [parse_verb(line, frame) for frame, table in VERB_TABLE.items() for line in table_lines(table)]
)
VERB_BY_NAME = {verb.name: verb for verb in VERBS if verb.frame in ("other", "movement")}
