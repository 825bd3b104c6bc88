"""The adjectives of the starter corpus, with the nouns that each of them can describe."""

from __future__ import annotations

from dataclasses import dataclass, replace

from nouns import Noun, split_pair, table_lines

# "alt, älter = old, older: kinds and nouns it can describe"; "!Kind" makes
# "alt, älter = old, older: an exception; "-" instead of a comparative means
# that the adjective is not compared.  "teuer/teur" gives the stem that takes the endings.
ADJECTIVE_TABLE = """
    alt, älter = old, older: person !Kind !Junge !Mädchen !Schüler animal vehicle
    alt, älter = old, older: furniture item device clothes place room text
    jung, jünger = young, younger: person !Junge animal
    groß, größer = big, bigger: animal place room outdoors furniture vessel Baum Hut Auto Apfel
    groß, größer = big, bigger: Kartoffel Birne Tomate Pizza Kuchen Fehler Problem
    klein, kleiner = small, smaller: animal place room outdoors furniture item vessel device
    klein, kleiner = small, smaller: Boot Auto Baum Blume Apfel Birne
    klein, kleiner = small, smaller: Tomate Pizza Fehler Problem
    neu, neuer = new, newer: vehicle furniture item device clothes Buch Roman Haus Schule Film Lied
    neu, neuer = new, newer: Museum Bahnhof Flughafen Krankenhaus Wohnung Büro Plan Idee Kollege
    schön, schöner = beautiful, more beautiful: place room outdoors plant clothes Vogel Pferd Bild
    schön, schöner = beautiful, more beautiful: Lied Gedicht Foto Ring Geschichte Geschenk
    gut, besser = good, better: text food drink Film Lied Idee Plan Frage Antwort Arzt Lehrer
    gut, besser = good, better: Koch Anwalt Restaurant Hotel Freund Spiel Bäcker Kellner
    schlecht, schlechter = bad, worse: Film Idee Plan Antwort Hotel Restaurant Roman Artikel
    teuer/teur, teurer = expensive, more expensive: vehicle furniture device clothes Ring Hotel
    teuer/teur, teurer = expensive, more expensive: Restaurant Wohnung Geschenk Wein Käse Tasche
    billig, billiger = cheap, cheaper: vehicle furniture device clothes Hotel Restaurant Wohnung
    billig, billiger = cheap, cheaper: Tasche Regenschirm Koffer Wein Bier
    interessant, interessanter = interesting, more interesting: text Film Museum Stadt Idee Frage
    interessant, interessanter = interesting, more interesting: Plan Spiel Bild Antwort
    langweilig, langweiliger = boring, more boring: text Film Spiel Museum Dorf
    lang, länger = long, longer: Brief Roman Gedicht E-Mail Bericht Artikel Geschichte Film Lied
    lang, länger = long, longer: Straße Brücke Kleid Mantel Rock
    kurz, kürzer = short, shorter: Brief Roman Gedicht E-Mail Bericht Artikel Geschichte Film
    kurz, kürzer = short, shorter: Rock Lied Kleid Antwort
    hoch/hoh, höher = high, higher: Berg Turm Brücke
    schnell, schneller = fast, faster: vehicle transport Pferd Computer
    langsam, langsamer = slow, slower: vehicle transport Computer
    stark, stärker = strong, stronger: Mann Bär Pferd Kaffee Bruder Junge Bauer
    freundlich, freundlicher = friendly, friendlier: person !Freund family
    nett, netter = nice, nicer: person family
    klug, klüger = smart, smarter: person family Hund
    fleißig, fleißiger = hardworking, more hardworking: person
    faul, fauler = lazy, lazier: Katze Hund Schüler Student Junge Kellner
    glücklich, glücklicher = happy, happier: Mann Frau Kind Junge Mädchen Bauer
    traurig, trauriger = sad, sadder: Mann Frau Kind Junge Mädchen Geschichte Lied Film Gedicht
    müde/müd, müder = tired, more tired: Mann Frau Kind Junge Mädchen Tourist Arzt Hund Kellner Koch
    krank, kränker = sick, sicker: Mann Frau Kind Junge Mädchen Hund Katze Pferd Kuh
    reich, reicher = rich, richer: Mann Frau Anwalt Bauer Tourist
    arm, ärmer = poor, poorer: Mann Frau Maler Bauer Student
    berühmt, berühmter = famous, more famous: Maler Journalist Koch Roman Bild Museum Schloss
    bekannt, bekannter = well-known, more well-known: Anwalt Lied Restaurant Theater Turm Arzt
    höflich, höflicher = polite, more polite: Kellner Verkäufer Gast Polizist Schüler Nachbar
    süß, süßer = sweet, sweeter: Apfel Birne Orange Banane Kuchen Saft Tee Wein
    frisch, frischer = fresh, fresher: Apfel Ei Birne Orange Tomate Brötchen
    frisch, frischer = fresh, fresher: Salat Brot Fleisch Milch Saft
    warm, wärmer = warm, warmer: Suppe Milch Brot Mantel Jacke Pullover Mütze Zimmer Wohnung Bett
    kalt, kälter = cold, colder: drink See Zimmer
    heiß, heißer = hot, hotter: Kaffee Tee Suppe Wasser Teller
    rot, - = red: vehicle Apfel Blume clothes Tasche Ball Tomate Teppich Stift Tasse Wein
    blau, - = blue: vehicle clothes Blume Tasche Ball Teppich Stift Tasse Teller Regenschirm
    grün, - = green: Apfel clothes Tasche Auto Fahrrad Sofa Teppich Flasche Stift Tür
    schwarz, - = black: clothes Hund Katze Pferd Tasche Auto Kaffee Regenschirm Tee Koffer Vogel
    weiß, - = white: clothes Hund Katze Pferd Teller Tasse Blume Haus Schaf Ente Tisch
    gelb, - = yellow: Blume clothes Ball Tasche Boot Regenschirm Vogel
    braun, - = brown: Hund Pferd Kuh Tisch Tasche Schuh Mantel Schrank Stuhl Bär
    leer, - = empty: Flasche Glas Tasse Koffer Schrank Zimmer Kino Straße
    sauber, sauberer = clean, cleaner: clothes Teller Glas Tasse Küche Zimmer Fenster Messer
    schmutzig, schmutziger = dirty, dirtier: clothes Teller Glas Tasse Küche Fenster Messer Auto
    schwer, schwerer = heavy, heavier: furniture Koffer Paket Tasche
    leicht, leichter = light, lighter: Koffer Paket Tasche Jacke
    schwierig, schwieriger = difficult, more difficult: Frage Problem Spiel
    einfach, einfacher = simple, simpler: Frage Problem Spiel Plan Antwort
    wichtig, wichtiger = important, more important: Brief E-Mail Frage Problem Bericht Plan
    ruhig, ruhiger = quiet, quieter: Straße Dorf Zimmer Strand Park Hotel Nachbar Wohnung
    laut, lauter = loud, louder: Straße Musik Restaurant Kind Radio
    modern, moderner = modern, more modern: Küche Büro Bahnhof Flughafen Museum Bibliothek Schule
    gefährlich, gefährlicher = dangerous, more dangerous: Bär Straße Berg Messer Brücke
"""

# States a person can be in, used as predicates: "Er ist müde."
STATES = """
    müde = tired
    krank = sick
    glücklich = happy
    traurig = sad
    nervös = nervous
    zufrieden = satisfied
    hungrig = hungry
    durstig = thirsty
    allein = alone
"""
OBSTACLES = ("müde", "krank", "nervös", "traurig")


@dataclass(frozen=True, kw_only=True)
class Adjective:
    """One adjective with the kinds of noun, or single nouns, that it can describe."""

    german: str
    stem: str
    comparative: str
    english: str
    english_comparative: str
    goes_with: tuple[str, ...]

    def fits(self, noun: Noun) -> bool:
        """Whether the adjective can sensibly describe the noun."""
        if "!" + noun.german in self.goes_with:
            return False
        return noun.kind in self.goes_with or noun.german in self.goes_with


def parse_adjective(line: str) -> Adjective:
    """Read "teuer/teur, teurer = expensive, more expensive: vehicle Hotel"."""
    words, _, kinds = line.partition(": ")
    german, english = split_pair(words)
    form, comparative = german.split(", ")
    positive, _, stem = form.partition("/")
    english_positive, _, english_comparative = english.partition(", ")
    return Adjective(
        german=positive,
        stem=stem or positive,
        comparative="" if comparative == "-" else comparative,
        english=english_positive,
        english_comparative=english_comparative,
        goes_with=tuple(kinds.split()),
    )


def merge(adjectives: list[Adjective]) -> list[Adjective]:
    """Join the entries that only continue the noun list of the line above."""
    merged: dict[str, Adjective] = {}
    for adjective in adjectives:
        if adjective.german in merged:
            goes_with = merged[adjective.german].goes_with + adjective.goes_with
            adjective = replace(adjective, goes_with=goes_with)
        merged[adjective.german] = adjective
    return list(merged.values())


ADJECTIVES = merge([parse_adjective(line) for line in table_lines(ADJECTIVE_TABLE)])
ADJECTIVE_BY_NAME = {adjective.german: adjective for adjective in ADJECTIVES}
